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

/** Where a word stands, as the text of a `tsvector` has it. */
interface Places {
  text: string
  count: number
}

/** Builds the text of a `tsvector`, as far as one can hold what it is given. */
export class TextVector {
  readonly #words = new Map<string, Places>()
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
    if (places !== undefined && places.count >= MAX_POSITIONS) return false
    if (!this.#hasRoom(places === undefined ? sizeOf(word) : POSITION_BYTES)) return false
    this.#position++
    // D is what PostgreSQL assumes.
    const place = weight === 'D' ? `${this.#position}` : `${this.#position}${weight}`
    if (places === undefined) this.#words.set(word, { text: place, count: 1 })
    else {
      places.text = places.count === 0 ? place : `${places.text},${place}`
      places.count++
    }
    return true
  }

  /** A word as it is, without a place. The caller sees to it that it needs no quoting. False: it cannot be held. */
  mark(word: string): boolean {
    if (this.#words.has(word)) return true
    if (!this.#hasRoom(Buffer.byteLength(word))) return false
    this.#words.set(word, { text: '', count: 0 })
    return true
  }

  toString(): string {
    let text = ''
    for (const [word, { text: places }] of this.#words) text += places === '' ? `'${word}' ` : `'${word}':${places} `
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
