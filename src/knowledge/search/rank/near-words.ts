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
import type { KnownWords } from './known-words.ts'
import type { WordList } from './word-list.ts'

/** Words that are listed at once. */
const BLOCK = 8192
/** Of so many the rows stay in the processor's cache until they are compared with all terms: three quarters of the time. */
const COMPARED = 256
const INT16_BYTES = 2
const INT32_BYTES = 4
const FLOAT_BYTES = 4
/** A hit is two numbers. */
const HIT_BYTES = 8
const INT8_MAX = 127
/** Sums that are kept: of words that have several tokens. */
const MOST_SUMS = 65_536
const FIRST_PLACES = 16_384

interface NumbersOfTerm {
  numbers: Int16Array
  length: number
}

/** Compares words by the angle between the sums of their tokens' rows. */
export class NearWords {
  readonly #tokenizer: Tokenizer
  readonly #dimensions: number
  readonly #scales: Float32Array
  /** Rows of words that have several tokens, then the whole table. */
  readonly #rows: Int8Array
  readonly #table: number
  readonly #addresses: Int32Array
  readonly #factors: Float32Array
  readonly #question: Int16Array
  readonly #hitNumbers: Int32Array
  readonly #hitScores: Float32Array
  readonly #sum: Float32Array
  /** Of the table's rows; 0 where it is not known yet. */
  readonly #lengths: Float64Array
  readonly #scan: Scan
  /** By place of a known word: where its row begins plus one, and what its products are multiplied by. */
  #known: KnownWords | null = null
  #places = new Int32Array(FIRST_PLACES)
  #factorsAt = new Float32Array(FIRST_PLACES)
  #sums = 0
  /** What the block holds. */
  #filled: { list: WordList; first: number; count: number } | null = null

  constructor({ dimensions, scales, rows, vocabulary }: TokenTable) {
    this.#tokenizer = new Tokenizer(vocabulary)
    const table = MOST_SUMS * dimensions
    const addresses = Math.ceil((table + rows.length) / INT32_BYTES) * INT32_BYTES
    const factors = addresses + INT32_BYTES * BLOCK
    const question = factors + FLOAT_BYTES * BLOCK
    const hits = question + INT16_BYTES * dimensions
    const memory = createScanMemory(Math.ceil((hits + HIT_BYTES * (BLOCK + 1)) / PAGE))
    this.#dimensions = dimensions
    this.#scales = scales
    this.#rows = new Int8Array(memory.buffer, 0, table + rows.length)
    this.#rows.set(rows, table)
    this.#table = table
    this.#addresses = new Int32Array(memory.buffer, addresses, BLOCK)
    this.#factors = new Float32Array(memory.buffer, factors, BLOCK)
    this.#question = new Int16Array(memory.buffer, question, dimensions)
    this.#hitNumbers = new Int32Array(memory.buffer, hits, 2 * (BLOCK + 1))
    this.#hitScores = new Float32Array(memory.buffer, hits, 2 * (BLOCK + 1))
    this.#sum = new Float32Array(dimensions)
    this.#lengths = new Float64Array(vocabulary.length)
    this.#scan = createScan(memory, dimensions, 'listed')
  }

  /** The length of the sum of the tokens' rows. */
  lengthOf(word: string): number {
    this.#add(this.#tokensOf(word))
    return lengthOf(this.#sum)
  }

  /** `found` gets the positions of a term and of a word, and their cosine, when it is above `least`. */
  find(
    terms: readonly string[],
    list: WordList,
    least: number,
    found: (term: number, word: number, cosine: number) => void,
  ): void {
    const questions = terms.map((word) => this.#questionOf(this.#tokensOf(word)))
    for (let first = 0; first < list.words.length; first += BLOCK) {
      const count = this.#fill(list, first)
      for (let from = 0; from < count; from += COMPARED) {
        const to = Math.min(count, from + COMPARED)
        for (let term = 0; term < questions.length; term++) {
          const { numbers, length } = questions[term] as NumbersOfTerm
          if (length === 0) continue
          this.#question.set(numbers)
          const hitCount = this.#scanSome(from, to, least * length, first + from)
          for (let hit = 0; hit < hitCount; hit++) {
            found(term, this.#hitNumbers[2 * hit] as number, (this.#hitScores[2 * hit + 1] as number) / length)
          }
        }
      }
    }
  }

  /** Without the one that stands for whatever the model does not know: all such words would mean the same. */
  #tokensOf(word: string): number[] {
    return this.#tokenizer.encode(word).filter((token) => token !== this.#tokenizer.unknown)
  }

  /** Of the block; `first` is the number of the first one. */
  #scanSome(from: number, to: number, least: number, first: number): number {
    const { byteOffset: addresses } = this.#addresses
    const [begin, end] = [addresses + INT32_BYTES * from, addresses + INT32_BYTES * to]
    const factors = this.#factors.byteOffset + FLOAT_BYTES * from
    return this.#scan(begin, end, factors, this.#question.byteOffset, this.#hitNumbers.byteOffset, least, first)
  }

  /** Lists a block of words, if it is not; the answer is how many, with those that fill the last step up. */
  #fill(list: WordList, first: number): number {
    if (this.#filled?.list === list && this.#filled.first === first) return this.#filled.count
    if (this.#known !== list.known || this.#sums > MOST_SUMS - BLOCK) this.#forget(list.known)
    this.#makeRoom(list.known.size)
    const last = Math.min(list.words.length, first + BLOCK)
    for (let word = first; word < last; word++) {
      const place = list.places[word] as number
      if (this.#places[place] === 0) this.#know(place, list.words[word] as string)
      this.#addresses[word - first] = (this.#places[place] as number) - 1
      this.#factors[word - first] = this.#factorsAt[place] as number
    }
    const count = Math.ceil((last - first) / ROW_STEP) * ROW_STEP
    this.#addresses.fill(0, last - first, count)
    this.#factors.fill(Number.NaN, last - first, count)
    this.#filled = { list, first, count }
    return count
  }

  #forget(known: KnownWords): void {
    this.#known = known
    this.#places.fill(0)
    this.#sums = 0
  }

  #makeRoom(places: number): void {
    if (places <= this.#places.length) return
    const [old, oldFactors] = [this.#places, this.#factorsAt]
    const length = Math.max(places, 2 * old.length)
    this.#places = new Int32Array(length)
    this.#places.set(old)
    this.#factorsAt = new Float32Array(length)
    this.#factorsAt.set(oldFactors)
  }

  #know(place: number, word: string): void {
    const tokens = this.#tokensOf(word)
    const token = tokens.length === 1 ? (tokens[0] as number) : null
    const at = token === null ? this.#writeSum(tokens) : this.#table + token * this.#dimensions
    const length = token === null ? this.#lengthAt(at) : this.#lengthOfToken(token, at)
    this.#places[place] = at + 1
    this.#factorsAt[place] = length === 0 ? Number.NaN : 1 / length
  }

  #lengthOfToken(token: number, at: number): number {
    const known = this.#lengths[token] as number
    if (known !== 0) return known
    const length = this.#lengthAt(at)
    this.#lengths[token] = length
    return length
  }

  #lengthAt(at: number): number {
    return lengthOf(this.#rows.subarray(at, at + this.#dimensions))
  }

  /** The answer is where it begins. */
  #writeSum(tokens: readonly number[]): number {
    const at = this.#sums++ * this.#dimensions
    this.#add(tokens)
    const factor = INT8_MAX / (largest(this.#sum) || 1)
    for (let i = 0; i < this.#dimensions; i++) this.#rows[at + i] = Math.round((this.#sum[i] as number) * factor)
    return at
  }

  #questionOf(tokens: readonly number[]): NumbersOfTerm {
    this.#add(tokens)
    const factor = QUESTION_MAX / (largest(this.#sum) || 1)
    const numbers = new Int16Array(this.#dimensions)
    for (let i = 0; i < numbers.length; i++) numbers[i] = Math.round((this.#sum[i] as number) * factor)
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
