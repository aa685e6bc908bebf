import { unspacedLetters } from './search-text.ts'

// What stands behind a character and belongs to it. Two vowel signs of Thai and Lao count as letters, as do the half-width voice marks.
const MARKS = String.raw`\p{M}ำຳﾞﾟ`
const CHARACTER = new RegExp(`[^${MARKS}][${MARKS}]*|[${MARKS}]+`, 'gu')
// Parts of a Korean syllable, which may be one with what stands before.
const JAMO = /^[\u1161-\u1175\u11a8-\u11c2\u3133-\u3163\uffa1-\uffdc]/
const MOST_KEPT = 5_000
// A longer one may be a piece of a text to the engine, and keep all of the text in memory.
const LONGEST_KEPT = 12

/**
 * A stretch of a text in scripts without spaces. What is looked for is compared letter by letter as the index has them, of which a
 * character with its marks may be several; its place is that of whole characters.
 */
export class UnspacedRun {
  readonly #text: string
  readonly #offset: number
  #letters: string | undefined
  /** Of each letter, where the character begins and ends that it is of. */
  #starts: Int32Array | undefined
  #ends: Int32Array | undefined

  constructor(text: string, offset: number) {
    this.#text = text
    this.#offset = offset
  }

  /** As the index has them; blanks stand for what is written with spaces. */
  get letters(): string {
    this.#letters ??= unspacedLetters(this.#text)
    return this.#letters
  }

  /** Where in the text these letters stand. */
  placeOf(from: number, to: number): { start: number; end: number } {
    if (this.#starts === undefined || this.#ends === undefined) [this.#starts, this.#ends] = this.#characters()
    return {
      start: this.#offset + (this.#starts[from] as number),
      end: this.#offset + (this.#ends[to - 1] as number),
    }
  }

  #characters(): [starts: Int32Array, ends: Int32Array] {
    const starts = new Int32Array(this.letters.length).fill(this.#text.length)
    const ends = new Int32Array(this.letters.length).fill(this.#text.length)
    let letter = 0
    let start = 0
    for (const character of charactersOf(this.#text)) {
      const next = letter + lettersOf(character).length
      starts.fill(start, letter, next)
      start += character.length
      ends.fill(start, letter, next)
      letter = next
    }
    return [starts, ends]
  }
}

function* charactersOf(text: string): Generator<string> {
  let held = ''
  for (const [next] of text.matchAll(CHARACTER)) {
    if (held !== '' && JAMO.test(next) && isOne(held, next)) held += next
    else {
      if (held !== '') yield held
      held = next
    }
  }
  if (held !== '') yield held
}

function isOne(character: string, next: string): boolean {
  return lettersOf(character + next) !== lettersOf(character) + lettersOf(next)
}

const kept = new Map<string, string>()

function lettersOf(character: string): string {
  if (character.length > LONGEST_KEPT) return unspacedLetters(character)
  const known = kept.get(character)
  if (known !== undefined) return known
  const letters = unspacedLetters(character)
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(character, letters)
  return letters
}
