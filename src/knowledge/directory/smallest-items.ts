/** The smallest of any number of items, in bounded memory. */
export class SmallestItems<T> {
  readonly #compare: (a: T, b: T) => number
  readonly #capacity: number
  #items: T[] = []
  #largest: T | undefined

  constructor(compare: (a: T, b: T) => number, capacity: number) {
    this.#compare = compare
    this.#capacity = capacity
  }

  add(item: T): void {
    if (this.#largest !== undefined && this.#compare(item, this.#largest) >= 0) return
    this.#items.push(item)
    if (this.#items.length >= 2 * this.#capacity + 100) this.#cut()
  }

  sorted(): T[] {
    this.#cut()
    return this.#items
  }

  #cut(): void {
    this.#items.sort(this.#compare)
    if (this.#items.length < this.#capacity) return
    this.#items.length = this.#capacity
    this.#largest = this.#items.at(-1)
  }
}
