import type { Steps } from '../steps.ts'
import type { TextBlock } from './text-block.ts'

const TAB = 9
const LF = 10
const BLANK = 32
const HASH = 35
const LESS = 60
const GREATER = 62
const BACKTICK = 96
const TILDE = 126
const NINE_DIGITS = 9
// Which take as long as a step does elsewhere.
const LINES_OF_A_STEP = 10

/**
 * The blocks of a text that has nothing but headings, lists without nested ones, paragraphs and code between fences, none of them
 * indented. Null for any other text; and for some of these, where it takes a closer look: then the rules of markdown must be asked,
 * which take ten times as long. Line ends must be `\n`. The work can be left alone every few lines.
 */
export function* readingPlainBlocks(text: string): Steps<TextBlock[] | null> {
  const reading = new PlainReading(text)
  let lines = 0
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    if (!reading.line(start, end)) return null
    start = end + 1
    if (++lines % LINES_OF_A_STEP === 0) yield
  }
  return reading.end()
}

class PlainReading {
  readonly #text: string
  readonly #blocks: TextBlock[] = []
  // The paragraph that the next line may go on with, alone or in an item.
  #kind: 'item' | 'paragraph' | null = null
  #start = 0
  #end = 0
  // How many of which sign end the code that the next line is in; outside of any 0.
  #fence = 0
  #fenceSign = 0

  constructor(text: string) {
    this.#text = text
  }

  end(): TextBlock[] {
    this.#close()
    return this.#blocks
  }

  /** False: not a plain one. */
  line(start: number, end: number): boolean {
    const text = this.#text
    if (this.#fence > 0) return this.#code(start, end)
    if (isBlank(text, start, end)) {
      this.#close()
      return true
    }
    const level = headingLevel(text, start, end)
    if (level > 0) return this.#heading(start + level, end, level)
    const fence = fenceLength(text, start)
    if (fence > 0) return this.#openFence(start, fence, end)
    const item = itemStart(text, start, end)
    if (item === start) return isPlain(text, start, end) && this.#paragraph(start, end)
    return item !== -1 && isPlain(text, item, end) && this.#item(start, item, end)
  }

  #heading(start: number, end: number, level: number): boolean {
    // A row of them may close it.
    if (this.#text.charCodeAt(lastOf(this.#text, start, end)) === HASH) return false
    this.#close()
    this.#add('heading', trimmed(this.#text, start, end), level, true)
    return true
  }

  #openFence(start: number, length: number, end: number): boolean {
    const sign = this.#text.charCodeAt(start)
    const again = sign === BACKTICK ? this.#text.indexOf('`', start + length) : -1
    // With more of them on its line it is code in a paragraph.
    if (again !== -1 && again < end) return false
    this.#close()
    this.#fence = length
    this.#fenceSign = sign
    return true
  }

  /** A line of code, or the fence that ends it, which may be indented a little. */
  #code(start: number, end: number): boolean {
    const text = this.#text
    let at = start
    while (at < start + 3 && text.charCodeAt(at) === BLANK) at++
    const length = text.charCodeAt(at) === this.#fenceSign ? fenceLength(text, at) : 0
    if (length >= this.#fence && isBlank(text, at + length, end)) this.#fence = 0
    return true
  }

  #item(start: number, textStart: number, end: number): boolean {
    // Whether a number begins a list there depends on the number.
    if (this.#kind === 'paragraph' && isDigit(this.#text.charCodeAt(start))) return false
    this.#close()
    this.#open('item', textStart, end)
    return true
  }

  #paragraph(start: number, end: number): boolean {
    if (this.#kind === null) this.#open('paragraph', start, end)
    else this.#end = end
    return true
  }

  #open(kind: 'item' | 'paragraph', start: number, end: number): void {
    this.#kind = kind
    this.#start = start
    this.#end = end
  }

  #close(): void {
    if (this.#kind !== null)
      this.#add(this.#kind, trimmed(this.#text, this.#start, this.#end), 0, this.#kind === 'paragraph')
    this.#kind = null
  }

  #add(kind: TextBlock['kind'], text: string, level: number, isTop: boolean): void {
    this.#blocks.push({ kind, text, level, isQuoted: false, isTop })
  }
}

/** How many `#` begin the line, where a blank and some text follow; else 0. */
function headingLevel(text: string, start: number, end: number): number {
  let at = start
  while (at < end && text.charCodeAt(at) === HASH) at++
  const level = at - start
  return level > 0 && level <= 6 && text.charCodeAt(at) === BLANK && !isBlank(text, at, end) ? level : 0
}

/** How many of the signs stand there that begin and end code; 0 for too few. */
function fenceLength(text: string, start: number): number {
  const code = text.charCodeAt(start)
  if (code !== BACKTICK && code !== TILDE) return 0
  let at = start + 1
  while (text.charCodeAt(at) === code) at++
  return at - start < 3 ? 0 : at - start
}

/** Where the text of the item begins; `start` when the line is none, -1 when that needs a closer look. */
function itemStart(text: string, start: number, end: number): number {
  let at = start
  if (isBullet(text.charCodeAt(at))) at++
  else {
    while (at < end && isDigit(text.charCodeAt(at))) at++
    const code = text.charCodeAt(at)
    if (at === start || at - start > NINE_DIGITS || (code !== 46 && code !== 41)) return start
    at++
  }
  if (at < end && !isSpace(text.charCodeAt(at))) return start
  // More than one blank, a tab, or nothing at all.
  return text.charCodeAt(at) !== BLANK || at + 1 >= end || isSpace(text.charCodeAt(at + 1)) ? -1 : at + 1
}

/** Whether what begins there is a paragraph, or goes on with one. */
function isPlain(text: string, start: number, end: number): boolean {
  const code = text.charCodeAt(start)
  switch (code) {
    case BLANK:
    case TAB:
    case LESS:
    case GREATER:
      return false
    case HASH: {
      const next = start + 1 < end ? text.charCodeAt(start + 1) : BLANK
      return next !== HASH && !isSpace(next)
    }
    case BACKTICK:
    case TILDE:
      return fenceLength(text, start) === 0
    // A line of these is a rule, or makes a heading of the lines before it; before a blank, some of them begin an item.
    case 42:
    case 43:
    case 45:
    case 61:
    case 95: {
      const at = text.charCodeAt(start + 1) === code ? start + 2 : start + 1
      return at < end && text.charCodeAt(at) !== code && !isSpace(text.charCodeAt(at))
    }
    default:
      return !isDigit(code) || itemStart(text, start, end) === start
  }
}

function isBlank(text: string, start: number, end: number): boolean {
  let at = start
  while (at < end && isSpace(text.charCodeAt(at))) at++
  return at === end
}

function lastOf(text: string, start: number, end: number): number {
  let at = end - 1
  while (at > start && isSpace(text.charCodeAt(at))) at--
  return at
}

function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isTrimmed(text.charCodeAt(start))) start++
  while (end > start && isTrimmed(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isTrimmed(code: number): boolean {
  return code === BLANK || code === TAB || code === LF || code === 13
}

function isSpace(code: number): boolean {
  return code === BLANK || code === TAB
}

function isBullet(code: number): boolean {
  return code === 42 || code === 43 || code === 45
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
