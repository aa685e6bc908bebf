export interface Heading {
  /** 1 to 6. */
  level: number
  /** Without the `#` before it and the blanks around. */
  text: string
  /** Number of its line, from 1. */
  line: number
  /** Where the line begins in the text. */
  start: number
  /** Where the next line begins. */
  end: number
}

interface Fence {
  character: string
  length: number
  /** A fence that begins beside a list marker ends with its list item: at the next line that is indented less. */
  indent: number
}

const HASH = 35

/** The headings of a markdown text that are written with `#`; never a line of fenced code. */
export function headingsOf(text: string): Heading[] {
  return readHeadings(text, null)
}

/** The first heading of level 1. */
export function firstHeading1(text: string): Heading | undefined {
  return readHeadings(text, 1).at(-1)
}

/** All of them, or those up to the first of a level; none when there is no such one. */
function readHeadings(text: string, upTo: number | null): Heading[] {
  const headings: Heading[] = []
  // Most texts that are edited have neither; then no line is looked at.
  if (!text.includes('#')) return headings
  let fence: Fence | null = null
  for (let start = 0, line = 1; start < text.length; line++) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline + 1
    const first = firstOfLine(text, start, end)
    if (fence !== null && first.at < end && first.column < fence.indent) fence = null
    if (fence !== null) {
      if (closes(fence, first, text, end)) fence = null
    } else if (first.column <= 3) {
      const heading = headingAt(text, first.at, end)
      if (heading !== null) headings.push({ ...heading, line, start, end })
      if (heading !== null && heading.level === upTo) return headings
      if (heading === null) fence = fenceAt(text, first, end)
    }
    start = end
  }
  return upTo === null ? headings : []
}

/** Level and text of a line that is a heading, wherever it stands. */
export function parseHeading(line: string): Pick<Heading, 'level' | 'text'> | null {
  const { at, column } = firstOfLine(line, 0, line.length)
  return column > 3 || line.includes('\n') ? null : headingAt(line, at, line.length)
}

interface First {
  /** Of the first character that is neither blank nor line end; `end` of an empty line. */
  at: number
  column: number
}

function firstOfLine(text: string, start: number, end: number): First {
  let at = start
  let column = 0
  for (; at < end; at++) {
    const character = text[at]
    if (character === ' ') column++
    else if (character === '\t') column += 4 - (column % 4)
    else if (character !== '\r' && character !== '\n') break
  }
  return { at, column }
}

function headingAt(text: string, at: number, end: number): Pick<Heading, 'level' | 'text'> | null {
  let after = at
  while (after < end && text.charCodeAt(after) === HASH) after++
  const level = after - at
  if (level < 1 || level > 6) return null
  const next = text[after]
  if (after < end && next !== ' ' && next !== '\t' && next !== '\n' && next !== '\r') return null
  return { level, text: text.slice(after, end).trim() }
}

function fenceAt(text: string, { at, column }: First, end: number): Fence | null {
  const inItem = afterMarker(text, at, end)
  const from = inItem ?? at
  const character = text[from]
  if (character !== '`' && character !== '~') return null
  const length = runLength(text, from, end, character)
  if (length < 3) return null
  if (character === '`' && text.slice(from + length, end).includes('`')) return null
  return { character, length, indent: inItem === null ? 0 : column + inItem - at }
}

const MARKER = /^(?:[-+*]|\d{1,9}[.)])[ \t]{1,4}/

/** Where the content of a list item begins whose marker stands at `at`. */
function afterMarker(text: string, at: number, end: number): number | null {
  const found = MARKER.exec(text.slice(at, Math.min(end, at + 16)))
  return found === null ? null : at + found[0].length
}

function closes(fence: Fence, { at, column }: First, text: string, end: number): boolean {
  if (column > fence.indent + 3 || text[at] !== fence.character) return false
  const length = runLength(text, at, end, fence.character)
  return length >= fence.length && text.slice(at + length, end).trim() === ''
}

function runLength(text: string, at: number, end: number, character: string): number {
  let after = at
  while (after < end && text[after] === character) after++
  return after - at
}
