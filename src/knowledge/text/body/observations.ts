import { withOne } from '../with-one.ts'
import { type InlineSpans, type Span, scanInline } from './wikilinks.ts'

export interface ParsedObservation {
  category: string
  content: string
  /** Without `#`; they stand in the content, too. */
  tags: string[]
  context: string | null
}

export const NO_CATEGORY = 'note'

/** Reads the first line of a list item, trimmed; null when it states no fact. */
export function readObservation(line: string): ParsedObservation | null {
  const bracket = readBracket(line)
  if (bracket?.isTask) return null
  if (bracket !== null && bracket.category !== null) return fact(bracket.category, line, bracket.textStart)
  if (!line.includes('#')) return null
  const spans = scanInline(line)
  if (isLinkAlone(line, spans) || hashtags(line, 0, line.length, spans).length === 0) return null
  return fact(NO_CATEGORY, line, bracket?.isEmpty ? bracket.textStart : 0, spans)
}

interface Bracket {
  category: string | null
  isTask: boolean
  isEmpty: boolean
  /** Where the text after the bracket begins. */
  textStart: number
}

/** `[something]` and white space at the beginning of the line, with text after it. */
function readBracket(line: string): Bracket | null {
  if (line.charCodeAt(0) !== 91) return null
  let end = 1
  for (; end < line.length; end++) {
    const code = line.charCodeAt(end)
    if (code === 93) break
    if (code === 91 || code === 40 || code === 41) return null
  }
  if (end === line.length) return null
  const inner = line.slice(1, end)
  const category = inner.trim()
  const isTask = isTaskMark(inner, category)
  let textStart = end + 1
  while (isWhite(line.charCodeAt(textStart))) textStart++
  const hasText = textStart < line.length
  // A task is one without its blank, too; `[x](address)` is a link.
  if (hasText && textStart === end + 1 && (!isTask || line.charCodeAt(textStart) === 40)) return null
  const isFact = !isTask && category !== '' && hasText && !isTimecode(category)
  return {
    category: isFact ? category : null,
    isTask,
    isEmpty: category === '' && !isTask,
    textStart,
  }
}

/** `[ ]`, `[x]` and the other marks of tasks; a single letter or digit beside x is a category. */
function isTaskMark(inner: string, category: string): boolean {
  if (category === '') return inner.length === 1
  const isOneCharacter =
    category.length === 1 || (category.length === 2 && (category.codePointAt(0) as number) > 0xffff)
  return isOneCharacter && !/^[^xX\P{L}]$|^\p{N}$/u.test(category)
}

const TIMECODE = /^\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?$/

/** One time or a range of two, as transcripts have them. */
function isTimecode(category: string): boolean {
  if (category.length > 40 || !isDigit(category.charCodeAt(0))) return false
  const times = category.split(/-->|[-–—]/)
  return times.length <= 2 && times.every((time) => TIMECODE.test(time.trim()))
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function fact(category: string, line: string, start: number, spans?: InlineSpans): ParsedObservation | null {
  const context = contextStart(line, start)
  const text = line.slice(start, context === -1 ? line.length : context)
  const content = text.trim()
  if (content === '') return null
  const tags = content.includes('#') ? hashtags(line, start, start + text.length, spans ?? scanInline(line)) : []
  return { category, content, tags, context: context === -1 ? null : line.slice(context + 1, -1).trim() || null }
}

/** Where the last `(` of a text that ends with `)` stands, or -1. A link at the end has an address there. */
function contextStart(line: string, start: number): number {
  if (line.charCodeAt(line.length - 1) !== 41) return -1
  const open = line.lastIndexOf('(')
  return open >= start && !endsInLink(line, start) ? open : -1
}

/** Whether a text that ends with `)` ends in `[text](address)`; behind `[[X]]` stands no address. */
function endsInLink(line: string, start: number): boolean {
  let depth = 0
  let at = line.length
  do {
    const code = line.charCodeAt(--at)
    if (code === 41) depth++
    else if (code === 40) depth--
  } while (depth > 0 && at > start)
  if (depth > 0 || line.charCodeAt(at - 1) !== 93 || line.charCodeAt(at - 2) === 93) return false
  return line.lastIndexOf('[', at - 1) >= start
}

/** Words that begin with `#`, outside of links and code. `#a#b` is two. */
function hashtags(line: string, start: number, end: number, { links, hidden }: InlineSpans): string[] {
  let tags: string[] = []
  const inLink = links.length === 0 ? nowhere : within(links)
  const inCode = hidden.length === 0 ? nowhere : within(hidden)
  for (let at = line.indexOf('#', start); at !== -1 && at < end; at = line.indexOf('#', at + 1)) {
    if (at > start && !isSpace(line.charCodeAt(at - 1))) continue
    let wordEnd = at + 1
    while (wordEnd < end && !isSpace(line.charCodeAt(wordEnd))) wordEnd++
    if (!inLink(at) && !inCode(at)) tags = withTags(tags, line.slice(at + 1, wordEnd))
    at = wordEnd - 1
  }
  return tags
}

function withTags(known: string[], word: string): string[] {
  let tags = known
  for (let start = 0; start < word.length; ) {
    const hash = word.indexOf('#', start)
    const end = hash === -1 ? word.length : hash
    const tag = withoutPunctuation(word.slice(start, end))
    if (tag !== '') tags = withOne(tags, tag)
    start = end + 1
  }
  return tags
}

// In what is written without blanks, or from right to left, other signs end a sentence.
const PUNCTUATION = '.,;:!?)]}\'"…’”»›。、，．；：！？）］｝〉》」』】〕｡｣､،؛؟۔।॥።။។'

function withoutPunctuation(word: string): string {
  let end = word.length
  while (end > 0 && PUNCTUATION.includes(word[end - 1] as string)) end--
  return word.slice(0, end)
}

/** Answers whether a place is in one of the spans; places must be asked for in order. */
function within(spans: readonly Span[]): (at: number) => boolean {
  let next = 0
  return (at) => {
    while (next < spans.length && (spans[next] as Span).end <= at) next++
    const span = spans[next]
    return span !== undefined && span.start <= at
  }
}

function nowhere(): boolean {
  return false
}

// By code: an expression would need a string made of each character.
const WIDE_SPACES = new Set([
  ...[0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008],
  ...[0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
])

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || (code > 127 && WIDE_SPACES.has(code))
}

/** What `trim` takes away. */
function isWhite(code: number): boolean {
  return isSpace(code) || (code > 9 && code <= 13)
}

/** `[[X]]` or `[text](address)`, and nothing else. */
function isLinkAlone(line: string, { links }: InlineSpans): boolean {
  const first = links[0]
  if (first !== undefined && first.start === 0 && first.end === line.length) return true
  if (!line.startsWith('[') || !line.endsWith(')')) return false
  const textEnd = groupEnd(line, 0, 91, 93)
  return line.charCodeAt(textEnd) === 40 && groupEnd(line, textEnd, 40, 41) === line.length
}

/** Behind the bracket that closes the one at `start`; the length of the text and one more when none does. */
function groupEnd(text: string, start: number, open: number, close: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === open) depth++
    else if (code === close && --depth === 0) return at + 1
  }
  return text.length + 1
}
