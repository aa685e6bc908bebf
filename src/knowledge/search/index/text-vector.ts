/** What PostgreSQL weighs words by. */
export type Weight = 'A' | 'B' | 'C' | 'D'

// PostgreSQL's own limits; it cuts off positions by itself, but refuses a document that is too large.
export const LAST_POSITION = 16_383
const MAX_POSITIONS = 255
const MAX_BYTES = 1_000_000
// Of a word with a place.
const PLACE_OVERHEAD = 8
const POSITION_BYTES = 2

/** Marks begin with what no word does, so that nobody's text can look like one. */
export function scopeMark(word: string): string {
  return `=${word}`
}

export function stemMark(stem: string): string {
  return `+${stem}`
}

/** Builds the text of a `tsvector`, as far as one can hold what it is given. */
export class TextVector {
  readonly #words = new Map<string, string>()
  readonly #positions = new Map<string, number>()
  #position = 0
  #bytes = 0

  /** A phrase must not begin in one text and end in the next. */
  leaveGap(): void {
    if (this.#position > 0) this.#position++
  }

  /** One word more, behind those that are there. False: it cannot be held. */
  append(word: string, weight: Weight = 'D'): boolean {
    if (this.#position >= LAST_POSITION) return false
    const places = this.#words.get(word)
    const count = this.#positions.get(word) ?? 0
    if (count >= MAX_POSITIONS || !this.#hasRoom(places === undefined ? sizeOf(word) : POSITION_BYTES)) return false
    this.#position++
    this.#positions.set(word, count + 1)
    // D is what PostgreSQL assumes.
    const place = weight === 'D' ? this.#position : `${this.#position}${weight}`
    this.#words.set(word, `${places === undefined ? '' : `${places},`}${place}`)
    return true
  }

  /** A word as it is, without a place. The caller sees to it that it needs no quoting. False: it cannot be held. */
  mark(word: string): boolean {
    if (this.#words.has(word)) return true
    if (!this.#hasRoom(Buffer.byteLength(word))) return false
    this.#words.set(word, '')
    return true
  }

  toString(): string {
    let text = ''
    for (const [word, places] of this.#words) text += places === '' ? `'${word}' ` : `'${word}':${places} `
    return text
  }

  #hasRoom(bytes: number): boolean {
    if (this.#bytes + bytes > MAX_BYTES) return false
    this.#bytes += bytes
    return true
  }
}

function sizeOf(word: string): number {
  return Buffer.byteLength(word) + PLACE_OVERHEAD
}
