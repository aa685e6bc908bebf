/** Keeps what arrives until somebody asks for it; who asks first waits for what comes next. */
export class Inbox<T> {
  readonly #unread: T[] = []
  readonly #readers: ((item: T) => void)[] = []
  readonly #all: T[] = []

  get all(): readonly T[] {
    return this.#all
  }

  add(item: T): void {
    this.#all.push(item)
    const reader = this.#readers.shift()
    if (reader === undefined) this.#unread.push(item)
    else reader(item)
  }

  /** The next one that nobody has asked for yet. */
  next(): Promise<T> {
    const item = this.#unread.shift()
    return item === undefined ? new Promise((resolve) => this.#readers.push(resolve)) : Promise.resolve(item)
  }

  /** The next so many. */
  take(count: number): Promise<T[]> {
    return Promise.all(Array.from({ length: count }, () => this.next()))
  }
}
