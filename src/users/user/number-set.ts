// What a set of that many takes as a table of bits is about what it takes as a hash table.
const MOST_SPARSE = 4_000
const BYTES_PER_ENTRY = 40

/** Numbers of users. A million of them take as much memory as four thousand: a bit each. */
export class NumberSet {
  #sparse: Set<number> | undefined = new Set()
  #bits = new Uint32Array(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Roughly. */
  get bytes(): number {
    return this.#bits.byteLength + (this.#sparse?.size ?? 0) * BYTES_PER_ENTRY
  }

  has(number: number): boolean {
    if (this.#sparse !== undefined) return this.#sparse.has(number)
    return ((this.#bits[number >>> 5] ?? 0) & bitOf(number)) !== 0
  }

  add(number: number): void {
    if (this.has(number)) return
    this.#size++
    if (this.#sparse === undefined) this.#setBit(number)
    else this.#sparse.add(number)
    if (this.#sparse !== undefined && this.#size > MOST_SPARSE) this.#toBits(this.#sparse)
  }

  delete(number: number): void {
    if (!this.has(number)) return
    this.#size--
    if (this.#sparse !== undefined) this.#sparse.delete(number)
    else this.#bits[number >>> 5] = (this.#bits[number >>> 5] as number) & ~bitOf(number)
  }

  /** In no order while there are few. */
  values(): number[] {
    if (this.#sparse !== undefined) return [...this.#sparse]
    const numbers: number[] = []
    for (const [index, bits] of this.#bits.entries()) {
      for (let rest = bits; rest !== 0; rest &= rest - 1) numbers.push(index * 32 + 31 - Math.clz32(rest & -rest))
    }
    return numbers
  }

  #toBits(numbers: ReadonlySet<number>): void {
    this.#sparse = undefined
    for (const number of numbers) this.#setBit(number)
  }

  #setBit(number: number): void {
    const index = number >>> 5
    if (index >= this.#bits.length) {
      const larger = new Uint32Array(Math.ceil((index + 1) * 1.25))
      larger.set(this.#bits)
      this.#bits = larger
    }
    this.#bits[index] = (this.#bits[index] as number) | bitOf(number)
  }
}

function bitOf(number: number): number {
  return 1 << (number & 31)
}
