import { malformed } from '../malformed.ts'
import { MEMORY_SCHEME } from '../text/name/memory-scheme.ts'

const LONGEST = 1_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const FORBIDDEN = /[<>"|?\u0000-\u001f\u007f]/

/** What a memory address names: a permalink, a pattern of permalinks with `*`, an id, or anything a link may say. */
export function memoryName(uri: string): string {
  const text = uri.trim()
  const name = (text.toLowerCase().startsWith(MEMORY_SCHEME) ? text.slice(MEMORY_SCHEME.length) : text).replace(
    /^\/|\/$/g,
    '',
  )
  const problem = problemOf(name)
  if (problem !== undefined) throw malformed(['path', 'uri'], `The memory address ${problem}`)
  return name.normalize('NFC')
}

function problemOf(name: string): string | undefined {
  if (name.trim() === '') return 'is empty: name a permalink, such as memory://docs/plan'
  if (name.length > LONGEST) return `must not have more than ${LONGEST} characters`
  if (name.includes('://')) return 'must not have a second scheme'
  if (name.includes('//')) return 'must not have two slashes in a row'
  return FORBIDDEN.test(name) ? 'must not have < > " | ? or control characters' : undefined
}
