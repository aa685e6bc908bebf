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
  const text = line.slice(end + 1)
  const rest = text.trimStart()
  if (rest.length === text.length && text !== '') return null
  const isFact = !isTask && category !== '' && rest !== '' && !isTimecode(category)
  return {
    category: isFact ? category : null,
    isTask,
    isEmpty: category === '' && !isTask,
    textStart: line.length - rest.length,
  }
}

/** `[ ]`, `[x]` and the other marks of tasks; a single letter or digit beside x is a category. */
function isTaskMark(inner: string, category: string): boolean {
  if (category === '') return inner.length === 1
  const [first, second] = category.length > 2 ? [] : [...category]
  return first !== undefined && second === undefined && !/^[^xX\P{L}]$|^\p{N}$/u.test(first)
}

const TIMECODE = /^\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?$/

/** One time or a range of two, as transcripts have them. */
function isTimecode(category: string): boolean {
  if (category.length > 40) return false
  const times = category.split(/-->|[-–—]/)
  return times.length <= 2 && times.every((time) => TIMECODE.test(time.trim()))
}

function fact(category: string, line: string, start: number, spans?: InlineSpans): ParsedObservation | null {
  const context = contextStart(line, start)
  const text = line.slice(start, context === -1 ? line.length : context)
  const content = text.trim()
  if (content === '') return null
  const tags = content.includes('#') ? hashtags(line, start, start + text.length, spans ?? scanInline(line)) : []
  return { category, content, tags, context: context === -1 ? null : line.slice(context + 1, -1).trim() || null }
}

/** Where the last `(` of a text that ends with `)` stands, or -1. */
function contextStart(line: string, start: number): number {
  if (line.charCodeAt(line.length - 1) !== 41) return -1
  const open = line.lastIndexOf('(')
  return open >= start ? open : -1
}

/** Words that begin with `#`, outside of links and code. `#a#b` is two. */
function hashtags(line: string, start: number, end: number, { links, hidden }: InlineSpans): string[] {
  const tags: string[] = []
  const inLink = within(links)
  const inCode = within(hidden)
  for (let at = line.indexOf('#', start); at !== -1 && at < end; at = line.indexOf('#', at + 1)) {
    if (at > start && !isSpace(line, at - 1)) continue
    let wordEnd = at + 1
    while (wordEnd < end && !isSpace(line, wordEnd)) wordEnd++
    if (!inLink(at) && !inCode(at)) addTags(tags, line.slice(at + 1, wordEnd))
    at = wordEnd - 1
  }
  return tags
}

function addTags(tags: string[], word: string): void {
  for (const part of word.split('#')) {
    const tag = withoutPunctuation(part)
    if (tag !== '') tags.push(tag)
  }
}

// In what is written without blanks, or from right to left, other signs end a sentence.
const PUNCTUATION = '.,;:!?)]}\'"…’”»›。、，．；：！？）］｝〉》」』】〕｡｣､،؛؟۔।॥።။។'

function withoutPunctuation(word: string): string {
  let end = word.length
  while (end > 0 && PUNCTUATION.includes(word[end - 1] as string)) end--
  return word.slice(0, end)
}

/** Answers whether a place is in one of the spans; places must be asked for in order. */
function within(spans: Span[]): (at: number) => boolean {
  let next = 0
  return (at) => {
    while (next < spans.length && (spans[next] as Span).end <= at) next++
    const span = spans[next]
    return span !== undefined && span.start <= at
  }
}

function isSpace(line: string, at: number): boolean {
  const code = line.charCodeAt(at)
  return code === 32 || code === 9 || (code > 127 && /\s/.test(line[at] as string))
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
