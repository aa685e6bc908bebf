import type { GiveUpSignal } from '../../platform/outbound/give-up.ts'

// What is in flight lies here once, and once more in the thread that sends it.
const MOST_BYTES = 128 * 1024 * 1024
// So many times as much is there for those that are the only one of their destination.
const FOR_FIRST = 4

/** Memory that an attempt has. */
export interface HeldMemory {
  /** It turned out to need less. */
  shrinkTo(bytes: number): void
  giveBack(): void
}

interface Waiting {
  readonly destinationId: number
  readonly bytes: number
  go(): void
}

/**
 * Memory for inputs that are read when their attempt begins, of all destinations together: each lane has a bound of its own, but there may
 * be any number of lanes. One of each destination goes beyond what they share, so that none waits for the slowness of another, unless there
 * are hundreds of such destinations. When some is free, whoever waits for the destination that has the least gets it, and what is
 * larger than all there is goes alone.
 */
export class InputMemory {
  readonly #most: number
  #used = 0
  readonly #usedBy = new Map<number, number>()
  readonly #waiting = new Set<Waiting>()

  constructor(most = MOST_BYTES) {
    this.#most = most
  }

  /** Whether so much would not be waited for. */
  isFree(destinationId: number, bytes: number): boolean {
    const next = this.#next()
    // The only one of its destination waits for no other, except for such as are the only one, too.
    const passes = next === undefined || (this.#usedBy.has(next.destinationId) && !this.#usedBy.has(destinationId))
    return passes && this.#mayGo({ destinationId, bytes })
  }

  /** Waits for so much. Rejects when the signal is aborted meanwhile. */
  async take(destinationId: number, bytes: number, signal: GiveUpSignal): Promise<HeldMemory> {
    if (this.isFree(destinationId, bytes)) this.#add(destinationId, bytes)
    else await this.#wait(destinationId, bytes, signal)
    let held = bytes
    const shrinkTo = (less: number) => {
      if (less >= held) return
      this.#add(destinationId, less - held)
      held = less
      this.#letGo()
    }
    return { shrinkTo, giveBack: () => shrinkTo(0) }
  }

  async #wait(destinationId: number, bytes: number, signal: GiveUpSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = { destinationId, bytes, go: resolve }
    this.#waiting.add(waiting)
    signal.addEventListener('abort', resolve)
    if (!signal.aborted) await promise
    signal.removeEventListener('abort', resolve)
    if (!this.#waiting.delete(waiting)) return
    this.#letGo()
    throw signal.reason
  }

  #letGo(): void {
    for (let next = this.#next(); next !== undefined && this.#mayGo(next); next = this.#next()) {
      this.#waiting.delete(next)
      this.#add(next.destinationId, next.bytes)
      next.go()
    }
  }

  #next(): Waiting | undefined {
    let best: Waiting | undefined
    let least = Number.POSITIVE_INFINITY
    for (const waiting of this.#waiting) {
      const used = this.#usedBy.get(waiting.destinationId) ?? 0
      if (used >= least) continue
      best = waiting
      least = used
      if (used === 0) break
    }
    return best
  }

  #mayGo({ destinationId, bytes }: Pick<Waiting, 'destinationId' | 'bytes'>): boolean {
    const most = this.#usedBy.has(destinationId) ? this.#most : this.#most * FOR_FIRST
    return this.#used === 0 || this.#used + bytes <= most
  }

  #add(destinationId: number, bytes: number): void {
    this.#used += bytes
    const used = (this.#usedBy.get(destinationId) ?? 0) + bytes
    if (used === 0) this.#usedBy.delete(destinationId)
    else this.#usedBy.set(destinationId, used)
  }
}
