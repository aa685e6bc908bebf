import { indexWords } from './search-text.ts'

/** What PostgreSQL weighs words by. */
export type Weight = 'A' | 'B' | 'C' | 'D'

// PostgreSQL's own limits; it cuts off positions by itself, but refuses a document that is too large.
const LAST_POSITION = 16_383
const MAX_POSITIONS = 255
const MAX_BYTES = 900_000
const WORD_OVERHEAD = 8
const POSITION_BYTES = 2

/** Marks begin with what no word does, so that nobody's text can look like one. */
export function scopeMark(word: string): string {
  return `=${word}`
}

export function stemMark(stem: string): string {
  return `+${stem}`
}

/** Builds the text of a `tsvector`. Words beyond what one can hold are left out: the write must not fail for them. */
export class TextVector {
  readonly #words = new Map<string, string>()
  readonly #positions = new Map<string, number>()
  #position = 0
  #bytes = 0

  /** Words of a text with their places, behind those that are there. */
  add(text: string, weight: Weight): this {
    if (text === '') return this
    // A phrase must not begin in one text and end in the next.
    if (this.#position > 0 && this.#position < LAST_POSITION) this.#position++
    // D is what PostgreSQL assumes.
    const suffix = weight === 'D' ? '' : weight
    for (const word of indexWords(text)) {
      if (this.#position < LAST_POSITION) this.#position++
      this.#place(word, suffix)
    }
    return this
  }

  /** A word as it is, without a place. The caller sees to it that it needs no quoting. */
  mark(word: string): this {
    if (!this.#words.has(word) && this.#hasRoom(word)) this.#words.set(word, '')
    return this
  }

  toString(): string {
    let text = ''
    for (const [word, places] of this.#words) text += places === '' ? `'${word}' ` : `'${word}':${places} `
    return text
  }

  #place(word: string, suffix: string): void {
    const places = this.#words.get(word)
    if (places === undefined) {
      if (!this.#hasRoom(word)) return
      this.#words.set(word, `${this.#position}${suffix}`)
      this.#positions.set(word, 1)
      return
    }
    const count = this.#positions.get(word) ?? 0
    if (count >= MAX_POSITIONS || this.#bytes > MAX_BYTES) return
    this.#bytes += POSITION_BYTES
    this.#positions.set(word, count + 1)
    this.#words.set(word, `${places},${this.#position}${suffix}`)
  }

  #hasRoom(word: string): boolean {
    const bytes = Buffer.byteLength(word) + WORD_OVERHEAD
    if (this.#bytes + bytes > MAX_BYTES) return false
    this.#bytes += bytes
    return true
  }
}
