import { type Heading, headingsOf } from '../../text/edit/headings.ts'
import type { Steps } from '../../text/steps.ts'

/** Lines that belong together. */
export interface Block {
  start: number
  /** Behind its last character that is not white space. */
  end: number
}

/** A top-level bullet with what hangs on it, or the text between two headings or bullets. */
export interface Section {
  kind: 'bullet' | 'text'
  /** Those above it, outermost first; its own only where it is not part of the text. */
  headings: readonly string[]
  /** Of its first block, when that is a heading. */
  ownHeading: string | null
  /** The bullet alone; or the heading, when there is one, and the paragraphs. */
  blocks: Block[]
}

// They are repeated in every chunk below them.
const LONGEST_HEADING = 120
const FENCE = /^ {0,3}(?:```|~~~)/
const BULLET = /^(?:[-+*]|\d{1,9}[.)])[ \t]/

/** A text in the order of its lines, by what a vector of its own may stand for. */
export function* sectionsOf(text: string): Steps<Section[]> {
  const reading = new Reading(text)
  let place = 0
  for (const heading of headingsOf(text)) {
    yield* reading.lines(place, heading.start)
    reading.heading(heading)
    place = heading.end
    yield
  }
  yield* reading.lines(place, text.length)
  return reading.finish()
}

class Reading {
  readonly #text: string
  readonly #sections: Section[] = []
  /** By level: what stands above the line at hand. */
  readonly #above: (string | undefined)[] = []
  #section: Section | undefined
  #block: Block | undefined

  constructor(text: string) {
    this.#text = text
  }

  heading({ level, text, start, end }: Heading): void {
    this.#endSection()
    this.#above.length = level
    const own = text.slice(0, LONGEST_HEADING).trim()
    this.#section = { kind: 'text', headings: this.#path(), ownHeading: own, blocks: [] }
    this.#above[level] = own
    this.#addLine(start, end)
    this.#endBlock()
  }

  /** Lines without a heading. */
  *lines(from: number, to: number): Steps<void> {
    let isCode = false
    let isAfterBlank = true
    for (let start = from; start < to; ) {
      const newline = this.#text.indexOf('\n', start)
      const end = newline === -1 || newline >= to ? to : newline + 1
      const line = this.#text.slice(start, Math.min(end, start + 16))
      const isBlank = line.length < 16 ? line.trim() === '' : this.#isBlank(start, end)
      if (FENCE.test(line)) isCode = !isCode
      if (isBlank && !isCode) {
        if (this.#section?.kind !== 'bullet') this.#endBlock()
      } else if (!isCode && BULLET.test(line)) this.#bullet(start, end)
      else {
        const isIndented = line[0] === ' ' || line[0] === '\t'
        if (this.#section?.kind === 'bullet' && isAfterBlank && !isIndented && !isCode) this.#endSection()
        this.#section ??= { kind: 'text', headings: this.#path(), ownHeading: null, blocks: [] }
        this.#addLine(start, end)
      }
      isAfterBlank = isBlank
      start = end
      yield
    }
  }

  finish(): Section[] {
    this.#endSection()
    return this.#sections
  }

  #bullet(start: number, end: number): void {
    this.#endSection()
    this.#section = { kind: 'bullet', headings: this.#path(), ownHeading: null, blocks: [] }
    this.#addLine(start, end)
  }

  #addLine(start: number, end: number): void {
    if (this.#block === undefined) {
      this.#block = { start, end }
      this.#section?.blocks.push(this.#block)
    } else this.#block.end = end
  }

  #endBlock(): void {
    const block = this.#block
    this.#block = undefined
    if (block === undefined) return
    while (block.end > block.start && isSpace(this.#text.charCodeAt(block.end - 1))) block.end--
  }

  #endSection(): void {
    this.#endBlock()
    if (this.#section !== undefined && this.#section.blocks.length > 0) this.#sections.push(this.#section)
    this.#section = undefined
  }

  #path(): string[] {
    return this.#above.filter((heading) => heading !== undefined && heading !== '') as string[]
  }

  #isBlank(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (!isSpace(this.#text.charCodeAt(at))) return false
    return true
  }
}

export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x3000
}
