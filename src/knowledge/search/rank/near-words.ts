import type { TokenTable } from '../../semantic/builtin/model-file.ts'
import { Tokenizer } from '../../semantic/builtin/tokenizer.ts'
import {
  createScan,
  createScanMemory,
  PAGE,
  QUESTION_MAX,
  ROW_STEP,
  type Scan,
} from '../../semantic/search/scan-kernel.ts'

/** Words that are compared at once. */
const BLOCK = 8192
const INT16_BYTES = 2
const FLOAT_BYTES = 4
/** A hit is two numbers. */
const HIT_BYTES = 8
const INT8_MAX = 127
/** Words whose rows are found without cutting them into tokens again; texts have most of their words in common. */
const MOST_KNOWN = 65_536

interface KnownWord {
  /** Where its row begins. */
  at: number
  length: number
}

/** Compares words by the angle between the sums of their tokens' rows. */
export class NearWords {
  readonly #tokenizer: Tokenizer
  readonly #dimensions: number
  readonly #scales: Float32Array
  /** The block, then the rows of known words that have several tokens, then the whole table: rows are copied within one memory. */
  readonly #rows: Int8Array
  readonly #sums: number
  readonly #table: number
  readonly #known = new Map<string, KnownWord>()
  readonly #factors: Float32Array
  readonly #question: Int16Array
  readonly #hitNumbers: Int32Array
  readonly #hitScores: Float32Array
  readonly #sum: Float32Array
  readonly #scan: Scan
  /** What the block holds. */
  #filled: { words: readonly string[]; first: number; count: number } | null = null

  constructor({ dimensions, scales, rows, vocabulary }: TokenTable) {
    this.#tokenizer = new Tokenizer(vocabulary)
    const sums = BLOCK * dimensions
    const table = sums + MOST_KNOWN * dimensions
    const factors = Math.ceil((table + rows.length) / FLOAT_BYTES) * FLOAT_BYTES
    const question = factors + FLOAT_BYTES * BLOCK
    const hits = question + INT16_BYTES * dimensions
    const memory = createScanMemory(Math.ceil((hits + HIT_BYTES * (BLOCK + 1)) / PAGE))
    this.#dimensions = dimensions
    this.#scales = scales
    this.#rows = new Int8Array(memory.buffer, 0, table + rows.length)
    this.#rows.set(rows, table)
    this.#sums = sums
    this.#table = table
    this.#factors = new Float32Array(memory.buffer, factors, BLOCK)
    this.#question = new Int16Array(memory.buffer, question, dimensions)
    this.#hitNumbers = new Int32Array(memory.buffer, hits, 2 * (BLOCK + 1))
    this.#hitScores = new Float32Array(memory.buffer, hits, 2 * (BLOCK + 1))
    this.#sum = new Float32Array(dimensions)
    this.#scan = createScan(memory, dimensions)
  }

  /** The length of the sum of the tokens' rows. */
  lengthOf(word: string): number {
    this.#add(this.#tokenizer.encode(word))
    return lengthOf(this.#sum)
  }

  /** `found` gets the positions of a term and of a word, and their cosine, when it is above `least`. */
  find(
    terms: readonly string[],
    words: readonly string[],
    least: number,
    found: (term: number, word: number, cosine: number) => void,
  ): void {
    const questions = terms.map((word) => this.#questionOf(this.#tokenizer.encode(word)))
    for (let first = 0; first < words.length; first += BLOCK) {
      const count = this.#fill(words, first)
      for (const [term, { numbers, length }] of questions.entries()) {
        if (length === 0) continue
        this.#question.set(numbers)
        const hitCount = this.#scanBlock(count, least * length, first)
        for (let hit = 0; hit < hitCount; hit++) {
          found(term, this.#hitNumbers[2 * hit] as number, (this.#hitScores[2 * hit + 1] as number) / length)
        }
      }
    }
  }

  #scanBlock(count: number, least: number, first: number): number {
    const [end, factors] = [count * this.#dimensions, this.#factors.byteOffset]
    return this.#scan(0, end, factors, this.#question.byteOffset, this.#hitNumbers.byteOffset, least, first)
  }

  /** Puts a block of words in place, if it is not; the answer is how many, with those that fill the last step up. */
  #fill(words: readonly string[], first: number): number {
    if (this.#filled?.words === words && this.#filled.first === first) return this.#filled.count
    const last = Math.min(words.length, first + BLOCK)
    const dimensions = this.#dimensions
    for (let word = first; word < last; word++) {
      const { at, length } = this.#rowOf(words[word] as string)
      this.#rows.copyWithin((word - first) * dimensions, at, at + dimensions)
      this.#factors[word - first] = length === 0 ? Number.NaN : 1 / length
    }
    const count = Math.ceil((last - first) / ROW_STEP) * ROW_STEP
    this.#factors.fill(Number.NaN, last - first, count)
    this.#filled = { words, first, count }
    return count
  }

  #rowOf(word: string): KnownWord {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    const tokens = this.#tokenizer.encode(word)
    const at = tokens.length === 1 ? this.#table + (tokens[0] as number) * this.#dimensions : this.#writeSum(tokens)
    const row = { at, length: lengthOf(this.#rows.subarray(at, at + this.#dimensions)) }
    this.#known.set(word, row)
    return row
  }

  /** The answer is where it begins. */
  #writeSum(tokens: readonly number[]): number {
    const at = this.#sums + this.#known.size * this.#dimensions
    this.#add(tokens)
    const factor = INT8_MAX / (largest(this.#sum) || 1)
    for (let i = 0; i < this.#dimensions; i++) this.#rows[at + i] = Math.round((this.#sum[i] as number) * factor)
    return at
  }

  #questionOf(tokens: readonly number[]): { numbers: Int16Array; length: number } {
    this.#add(tokens)
    const factor = QUESTION_MAX / (largest(this.#sum) || 1)
    const numbers = Int16Array.from(this.#sum, (value) => Math.round(value * factor))
    return { numbers, length: lengthOf(numbers) }
  }

  #add(tokens: readonly number[]): void {
    const sum = this.#sum
    sum.fill(0)
    for (const token of tokens) {
      const scale = this.#scales[token] as number
      const from = this.#table + token * this.#dimensions
      for (let at = 0; at < sum.length; at++) {
        sum[at] = (sum[at] as number) + scale * (this.#rows[from + at] as number)
      }
    }
  }
}

function lengthOf(numbers: Float32Array | Int16Array | Int8Array): number {
  let squares = 0
  for (let at = 0; at < numbers.length; at++) squares += (numbers[at] as number) ** 2
  return Math.sqrt(squares)
}

function largest(numbers: Float32Array): number {
  let found = 0
  for (let at = 0; at < numbers.length; at++) found = Math.max(found, Math.abs(numbers[at] as number))
  return found
}
