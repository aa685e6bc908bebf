import { wholeCharacter } from '../../../platform/text/whole-character.ts'
import type { Steps } from '../../text/steps.ts'
import { type Block, isSpace, type Section, sectionsOf } from './sections.ts'

/** A stretch of text that has a vector of its own. */
export interface Piece {
  start: number
  end: number
  /** The headings above it that do not stand in it. */
  headings: readonly string[]
}

const LONGEST = 900
const OVERLAP = 120
// A window ends at the best place in its last third.
const SHORTEST_WINDOW = 600
// A text with more bullets than this is a table or a log: then they are put together like paragraphs.
const MOST_BULLETS = 500

/** What is split where: at headings and bullets; what is short is put together, what is long is cut into windows. */
export function* piecesOf(text: string): Steps<Piece[]> {
  const sections = yield* sectionsOf(text)
  const cutting = new Cutting(text)
  const areBulletsApart = sections.filter(({ kind }) => kind === 'bullet').length <= MOST_BULLETS
  for (const section of sections) {
    if (section.kind === 'bullet' && areBulletsApart) cutting.addApart(section)
    else cutting.add(section)
    yield
  }
  return cutting.finish()
}

class Cutting {
  readonly #text: string
  readonly #pieces: Piece[] = []
  #open: Piece | undefined
  /** The headings in the open piece, as long as nothing else is in it. */
  #bareHeadings: string[] | null = null

  constructor(text: string) {
    this.#text = text
  }

  /** A piece of its own. */
  addApart(section: Section): void {
    const isSaid = this.#bareHeadings?.every((heading) => section.headings.includes(heading)) === true
    if (isSaid) this.#open = undefined
    this.#close()
    this.#addBlocks(section)
    this.#close()
  }

  /** Together with what was before it, where all of it fits in. */
  add(section: Section): void {
    const { start, end } = extent(section)
    if (this.#open === undefined || end - this.#open.start > LONGEST) {
      this.#close()
      if (end - start > LONGEST) {
        this.#addBlocks(section)
        return
      }
      this.#open = { start, end, headings: section.headings }
      this.#bareHeadings = []
    } else this.#open.end = end
    const isBare = section.blocks.length === 1 && section.ownHeading !== null
    if (isBare) this.#bareHeadings?.push(section.ownHeading as string)
    else this.#bareHeadings = null
  }

  finish(): Piece[] {
    this.#close()
    return this.#pieces
  }

  #addBlocks({ blocks, headings, ownHeading }: Section): void {
    const { start } = blocks[0] as Block
    const below = ownHeading === null || ownHeading === '' ? headings : [...headings, ownHeading]
    const isHeadingApart = ownHeading !== null && blocks[1] !== undefined && blocks[1].end - start > LONGEST
    for (const [at, block] of blocks.entries()) {
      // It stands in the path of what is below it.
      if (at === 0 && isHeadingApart) continue
      const path = at === 0 ? headings : below
      if (this.#open !== undefined && block.end - this.#open.start <= LONGEST) this.#open.end = block.end
      else {
        this.#close()
        if (block.end - block.start <= LONGEST) this.#open = { ...block, headings: path }
        else this.#addWindows(block, path)
      }
    }
    this.#bareHeadings = null
  }

  #addWindows({ start, end }: Block, headings: readonly string[]): void {
    for (let from = start; ; ) {
      const to = end - from <= LONGEST ? end : windowEnd(this.#text, from)
      this.#pieces.push({ start: from, end: to, headings })
      if (to === end) return
      from = windowStart(this.#text, to)
    }
  }

  #close(): void {
    if (this.#open !== undefined) this.#pieces.push(this.#open)
    this.#open = undefined
    this.#bareHeadings = null
  }
}

function extent({ blocks }: Section): Block {
  return { start: (blocks[0] as Block).start, end: (blocks.at(-1) as Block).end }
}

const LF = 10
const SENTENCE_ENDS = new Set([...'.!?。！？'].map((character) => character.charCodeAt(0)))

/** At the end of a line, else of a sentence, else of a word, else wherever no character is cut in two. */
function windowEnd(text: string, from: number): number {
  let sentence = -1
  let word = -1
  for (let at = from + LONGEST; at > from + SHORTEST_WINDOW; at--) {
    const code = text.charCodeAt(at - 1)
    if (code === LF) return at
    if (!isSpace(code)) continue
    if (word === -1) word = at
    if (sentence === -1 && SENTENCE_ENDS.has(text.charCodeAt(at - 2))) sentence = at
  }
  if (sentence !== -1) return sentence
  return word === -1 ? wholeCharacter(text, from + LONGEST) : word
}

/** Some of the window before it again, from the beginning of a line or a word on. */
function windowStart(text: string, end: number): number {
  let word = -1
  for (let at = end - OVERLAP; at < end; at++) {
    const code = text.charCodeAt(at - 1)
    if (code === LF) return at
    if (word === -1 && isSpace(code)) word = at
  }
  return word === -1 ? wholeCharacter(text, end - OVERLAP) : word
}
