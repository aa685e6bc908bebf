/** Notes as people write them: some prose, some facts, some links to other notes. */
export interface SampleNote {
  title: string
  directory: string
  content: string
}

const WORDS =
  'water time server garden letter market engine river window forest bread signal bridge paper silver coffee archive method season travel copper harbour lantern meadow number orbit pencil quartz rhythm shelter timber'.split(
    ' ',
  )
const CATEGORIES = ['fact', 'decision', 'idea', 'question', 'method', 'risk']
const RELATIONS = ['relates_to', 'depends_on', 'part_of', 'follows', 'contradicts']
const FOLDERS = 50

/** The same note for the same number, about `size` characters long; it links to notes with smaller and larger numbers. */
export function sampleNote(number: number, { size = 2_000, links = 5, folder = 'notes' } = {}): SampleNote {
  const random = sequence(number)
  const title = `Note ${number}`
  const facts = Array.from(
    { length: 6 },
    () => `- [${pick(CATEGORIES, random)}] ${sentence(8, random)} #${pick(WORDS, random)} (${sentence(3, random)})`,
  )
  const relations = Array.from(
    { length: links },
    (_, index) => `- ${RELATIONS[index % RELATIONS.length]} [[Note ${Math.floor(random() * (number + 10))}]]`,
  )
  let content = `# ${title}\n\n## Observations\n${facts.join('\n')}\n\n## Relations\n${relations.join('\n')}\n\n## Text\n`
  while (content.length < size) content += `${sentence(12, random)}.\n`
  return { title, directory: `${folder}/part-${number % FOLDERS}`, content }
}

function sentence(length: number, random: () => number): string {
  return Array.from({ length }, () => pick(WORDS, random)).join(' ')
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T
}

/** Numbers between 0 and 1 that are the same in every run. */
export function sequence(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  return () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 4_294_967_296
  }
}
