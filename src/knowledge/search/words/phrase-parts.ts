import { isUnspacedWord } from './search-text.ts'

/** A word, or a run of letters of scripts without spaces. */
export interface PhrasePart {
  text: string
  isRun: boolean
}

/** A phrase as it was written: pairs of letters that overlap are one run. */
export function phraseParts(words: readonly string[]): PhrasePart[] {
  const parts: PhrasePart[] = []
  let open: PhrasePart | null = null
  for (const word of words) {
    if (!isUnspacedWord(word)) {
      parts.push({ text: word, isRun: false })
      open = null
      continue
    }
    const [first, second] = [...word] as [string, string | undefined]
    const isNext = open?.text.endsWith(first) === true
    if (open !== null && isNext) open.text += second ?? ''
    else {
      open = { text: word, isRun: true }
      parts.push(open)
    }
    // The last letter stands once more by itself at the end of a run.
    if (second === undefined) open = null
  }
  return parts
}

// A letter and the marks behind it, which the index has as characters for private use.
const CHARACTER = /[^\ue000-\uf8ff][\ue000-\uf8ff]*|[\ue000-\uf8ff]+/gu

/** What of a run is looked for where some of it is enough: all of it; else two characters; else two letters, as the index does. */
export function partsOfRun(run: string): string[][] {
  const characters = run.match(CHARACTER) ?? []
  return [[run], pairsOf(characters), pairsOf([...run])].filter((texts) => texts.length > 0)
}

function pairsOf(pieces: readonly string[]): string[] {
  return [...new Set(pieces.slice(1).map((piece, before) => `${pieces[before]}${piece}`))]
}
