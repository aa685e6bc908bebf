import type { Clock } from './clock.ts'

/** Rings at the earliest of the times that it was set to; a ring that nobody waited for is not lost. */
export class Bell {
  readonly #clock: Clock
  #isRung = false
  #wake = () => {}
  #cancel: (() => void) | undefined
  #ringsAtMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  ring(): void {
    this.stop()
    this.#isRung = true
    this.#wake()
  }

  ringIn(ms: number): void {
    const atMs = this.#clock.elapsedMs() + ms
    if (this.#isRung || atMs >= this.#ringsAtMs) return
    this.#cancel?.()
    this.#ringsAtMs = atMs
    this.#cancel = this.#clock.after(ms, () => this.ring())
  }

  async rings(signal: AbortSignal): Promise<void> {
    if (!this.#isRung && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      signal.addEventListener('abort', () => resolve(), { once: true, signal: this.#forget(promise) })
      await promise
    }
    this.#isRung = false
  }

  /** Forgets the times that it was set to. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#ringsAtMs = Number.POSITIVE_INFINITY
  }

  /** A signal that is aborted when the promise is settled. */
  #forget(promise: Promise<void>): AbortSignal {
    const over = new AbortController()
    void promise.then(() => over.abort())
    return over.signal
  }
}
