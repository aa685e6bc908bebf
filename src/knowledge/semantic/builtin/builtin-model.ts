import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { EmbeddingKind } from '../provider.ts'
import { HEADER_BYTES, type ModelHeader, readModelFile, readModelHeader, type TokenTable } from './model-file.ts'
import { createRowSum, MOST_ROWS, type RowSum } from './row-sum.ts'
import { Tokenizer } from './tokenizer.ts'

// In a bundle this module is part of the program, and the model lies beside it.
const FILE = import.meta.url.endsWith('.ts') ? './model.bin' : './builtin-model.bin'
const PATH = fileURLToPath(new URL(FILE, import.meta.url))

/**
 * The embedding model inside the product: a text's vector is the sum of its tokens' rows, at length one. No order of
 * words, no context; in exchange tens of thousands of texts a second on one core, with nothing to download.
 */
export class BuiltinModel {
  readonly dimensions: number
  /** Vectors of another version cannot be compared with those of this one. */
  readonly version: string
  readonly #tokenizer: Tokenizer
  readonly #scales: Float32Array
  readonly #damping: number
  readonly #rowSum: RowSum
  /** By token id: how often it occurs in the text at hand; all zero between texts. */
  readonly #counts: Uint32Array

  constructor(table: TokenTable) {
    this.dimensions = table.dimensions
    this.version = table.version
    this.#tokenizer = new Tokenizer(table.vocabulary)
    this.#scales = table.scales
    this.#damping = table.damping
    this.#rowSum = createRowSum(table.rows, table.dimensions)
    this.#counts = new Uint32Array(table.vocabulary.length)
  }

  /** What it would be, without loading it. */
  static header(path: string = PATH): ModelHeader {
    const bytes = new Uint8Array(HEADER_BYTES)
    const file = openSync(path, 'r')
    try {
      return readModelHeader(bytes.subarray(0, readSync(file, bytes)), path)
    } finally {
      closeSync(file)
    }
  }

  static load(): BuiltinModel {
    return new BuiltinModel(BuiltinModel.table())
  }

  static table(): TokenTable {
    return readModelFile(readFileSync(PATH), PATH)
  }

  /** The same without waiting for the disk; others have their turn before it is checked. */
  static async loadTable(): Promise<TokenTable> {
    const bytes = await readFile(PATH)
    await nextTurn()
    return readModelFile(bytes, PATH)
  }

  /**
   * A text without a single token has the vector of the unknown token: every vector has length one. In a question what is not known counts
   * for nothing, since it would be near to everything else that is not known; one of nothing else has a vector of zeros.
   */
  embed(texts: readonly string[], kind: EmbeddingKind = 'document'): Float32Array[] {
    return texts.map((text) => {
      const ids = this.#tokenizer.encode(text)
      if (kind === 'document') return this.#embedOne(ids)
      const known = ids.filter((id) => id !== this.#tokenizer.unknown)
      return known.length === 0 ? new Float32Array(this.dimensions) : this.#embedOne(known)
    })
  }

  #embedOne(ids: readonly number[]): Float32Array {
    const distinct = this.#count(ids)
    if (distinct.length === 0) distinct.push(this.#tokenizer.unknown)
    const { sum, places, weights, firstPlace, add } = this.#rowSum
    sum.fill(0)
    let filled = 0
    for (const id of distinct) {
      places[filled] = firstPlace + id * this.dimensions
      weights[filled] = this.#takeWeight(id)
      filled++
      if (filled === MOST_ROWS) {
        add(filled)
        filled = 0
      }
    }
    if (filled > 0) add(filled)
    return atLengthOne(sum)
  }

  /** The distinct ids in the order of their first occurrence. */
  #count(ids: readonly number[]): number[] {
    const counts = this.#counts
    const distinct: number[] = []
    for (const id of ids) {
      const count = counts[id] ?? 0
      if (count === 0) distinct.push(id)
      counts[id] = count + 1
    }
    return distinct
  }

  #takeWeight(id: number): number {
    const count = this.#counts[id] || 1
    this.#counts[id] = 0
    return (this.#scales[id] ?? 0) * (count === 1 ? 1 : count ** (1 - this.#damping))
  }
}

function atLengthOne(sum: Float32Array): Float32Array {
  let squares = 0
  for (const value of sum) squares += value * value
  const vector = new Float32Array(sum)
  if (squares === 0) {
    vector[0] = 1
    return vector
  }
  const factor = 1 / Math.sqrt(squares)
  for (let i = 0; i < vector.length; i++) vector[i] = (sum[i] ?? 0) * factor
  return vector
}
