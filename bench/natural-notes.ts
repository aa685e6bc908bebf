/** Notes whose words are as rare and as frequent as those of a language: few are in most notes, most are in few. */
import { BuiltinModel } from '../src/knowledge/semantic/builtin/builtin-model.ts'
import { type SampleNote, sequence } from './notes-data.ts'

// English words, the frequent ones first, as the built-in model knows them; behind them names and rare words, which it cuts into pieces.
const KNOWN = BuiltinModel.table().vocabulary.filter((word) => /^[a-z]{3,}$/.test(word))
const SYLLABLES = 'ba ce di fo gu ha ke li mo nu pa re si to vu wa ze al en ir os un'.split(' ')
const VOCABULARY = 60_000
const FOLDERS = 50

/** The word that is the so many most frequent one. */
export function wordOf(rank: number): string {
  const known = KNOWN[rank]
  if (known !== undefined) return known
  let word = ''
  for (let rest = rank; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) word += SYLLABLES[rest % SYLLABLES.length]
  return word
}

/** Ranks as in a language: each has a share that falls with it. */
function anyRank(random: () => number): number {
  return Math.floor(VOCABULARY ** random()) - 1
}

function sentenceOf(length: number, random: () => number): string {
  return Array.from({ length }, () => wordOf(anyRank(random))).join(' ')
}

export function naturalNote(number: number): SampleNote {
  const random = sequence(number + 1)
  const sections = Array.from({ length: 3 }, () => {
    const sentences = Array.from({ length: 5 }, () => `${sentenceOf(14, random)}.`)
    return `## ${sentenceOf(3, random)}\n\n${sentences.join(' ')}\n`
  })
  const title = `${sentenceOf(3, random)} ${number}`
  const content = `# ${title}\n\n${sections.join('\n')}\n- [fact] ${sentenceOf(8, random)}\n`
  return { title, directory: `notes/part-${number % FOLDERS}`, content }
}
