import { createScan, createScanMemory, MOST_DIMENSIONS, PAGE, type Scan, type ScanMemory } from './scan-kernel.ts'

/** Of a block: small enough that many small projects fit, large enough that calls do not count. */
export const BLOCK_BYTES = 4 * PAGE
const BLOCK_PAGES = BLOCK_BYTES / PAGE
// Before the blocks of a bank: the question, and what a scan of a block found. The narrowest rows are 36 bytes, a hit is 8.
const QUESTION_AT = 0
const HITS_AT = PAGE
const HEAD_PAGES = 2
// A WebAssembly memory ends at 4 GiB.
const BANK_PAGES = 16_384

/** Addresses. */
export interface ScannedRows {
  rows: number
  end: number
  factors: number
}

/** Memory with scan functions over it. */
class Bank {
  readonly #memory: ScanMemory
  readonly #scans = new Map<number, Scan>()
  #pages = HEAD_PAGES

  constructor() {
    this.#memory = createScanMemory(HEAD_PAGES)
  }

  get pages(): number {
    return this.#pages
  }

  get buffer(): ArrayBuffer {
    return this.#memory.buffer
  }

  get question(): Int16Array {
    return new Int16Array(this.buffer, QUESTION_AT, MOST_DIMENSIONS)
  }

  addBlock(): Block {
    const page = this.#memory.grow(BLOCK_PAGES)
    this.#pages += BLOCK_PAGES
    return { bank: this, at: page * PAGE }
  }

  /**
   * Scans rows that lie `apart` from each other in four parts, `end` being that of the first one. The numbers of the rows and their
   * scores follow one another in `hits`; the answer is how many pairs there are.
   */
  scan(
    { rows, end, factors }: ScannedRows,
    { width, apart }: { width: number; apart: number },
    least: number,
    first: number,
  ): number {
    let scan = this.#scans.get(width)
    if (scan === undefined) {
      scan = createScan(this.#memory, width, { apart })
      this.#scans.set(width, scan)
    }
    return scan(rows, end, factors, QUESTION_AT, HITS_AT, least, first)
  }

  get hits(): { numbers: Int32Array; scores: Float32Array } {
    const { buffer } = this
    return { numbers: new Int32Array(buffer, HITS_AT), scores: new Float32Array(buffer, HITS_AT) }
  }
}

export interface Block {
  readonly bank: Bank
  /** Address of its first byte. */
  readonly at: number
}

/** All the memory that vectors may take, in blocks of one size. What was given back is used again. */
export class VectorArena {
  readonly #mostPages: number
  readonly #bankPages: number
  readonly #banks: Bank[] = []
  readonly #free: Block[] = []

  constructor(maxBytes: number, bankPages = BANK_PAGES) {
    this.#mostPages = Math.floor(maxBytes / PAGE)
    this.#bankPages = bankPages
  }

  /** Taken from the system so far; never more than it was made for. */
  get bytes(): number {
    return this.#pages * PAGE
  }

  /** How many blocks could be taken now. */
  get freeBlocks(): number {
    let [left, count] = [this.#mostPages - this.#pages, this.#free.length]
    const last = this.#banks.at(-1)
    if (last !== undefined) {
      const inLast = Math.min(Math.floor(left / BLOCK_PAGES), Math.floor((this.#bankPages - last.pages) / BLOCK_PAGES))
      count += inLast
      left -= inLast * BLOCK_PAGES
    }
    const perBank = Math.floor((this.#bankPages - HEAD_PAGES) / BLOCK_PAGES)
    const whole = Math.floor(left / this.#bankPages)
    const rest = Math.floor((left - whole * this.#bankPages - HEAD_PAGES) / BLOCK_PAGES)
    return count + whole * perBank + Math.max(0, rest)
  }

  /** Null when there is no memory left. */
  take(): Block | null {
    const free = this.#free.pop()
    if (free !== undefined) return free
    const left = this.#mostPages - this.#pages
    const last = this.#banks.at(-1)
    if (last !== undefined && last.pages + BLOCK_PAGES <= this.#bankPages) {
      return left >= BLOCK_PAGES ? last.addBlock() : null
    }
    if (left < HEAD_PAGES + BLOCK_PAGES) return null
    const bank = new Bank()
    this.#banks.push(bank)
    return bank.addBlock()
  }

  giveBack(blocks: readonly Block[]): void {
    this.#free.push(...blocks)
  }

  get #pages(): number {
    return this.#banks.reduce((sum, bank) => sum + bank.pages, 0)
  }
}
