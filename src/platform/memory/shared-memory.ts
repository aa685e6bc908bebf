import type { GiveUpSignal } from '../outbound/give-up.ts'

// So many times as much is there for those that are the only one of their owner.
const FOR_FIRST = 4

/** Memory that somebody has. */
export interface HeldMemory {
  /** It turned out to need less. */
  shrinkTo(bytes: number): void
  giveBack(): void
}

interface Waiting<Owner> {
  readonly owner: Owner
  readonly bytes: number
  go(): void
}

/**
 * Memory for what is large, of all owners together. One of each owner goes beyond what they share, so that none waits for the slowness of
 * another, unless there are hundreds of them. When some is free, whoever waits for the owner that has the least gets it, and what is
 * larger than all there is goes alone.
 */
export class SharedMemory<Owner> {
  readonly #most: number
  #used = 0
  readonly #usedBy = new Map<Owner, number>()
  readonly #waiting = new Set<Waiting<Owner>>()

  constructor(most: number) {
    this.#most = most
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Whether so much would not be waited for. */
  isFree(owner: Owner, bytes: number): boolean {
    const next = this.#next()
    // The only one of its owner waits for no other, except for such as are the only one, too.
    const passes = next === undefined || (this.#usedBy.has(next.owner) && !this.#usedBy.has(owner))
    return passes && this.#mayGo({ owner, bytes })
  }

  /** Waits for so much. Rejects when the signal is aborted meanwhile. */
  async take(owner: Owner, bytes: number, signal: GiveUpSignal): Promise<HeldMemory> {
    if (this.isFree(owner, bytes)) this.#add(owner, bytes)
    else await this.#wait(owner, bytes, signal)
    let held = bytes
    const shrinkTo = (less: number) => {
      if (less >= held) return
      this.#add(owner, less - held)
      held = less
      this.#letGo()
    }
    return { shrinkTo, giveBack: () => shrinkTo(0) }
  }

  async #wait(owner: Owner, bytes: number, signal: GiveUpSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = { owner, bytes, go: resolve }
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
      this.#add(next.owner, next.bytes)
      next.go()
    }
  }

  #next(): Waiting<Owner> | undefined {
    let best: Waiting<Owner> | undefined
    let least = Number.POSITIVE_INFINITY
    for (const waiting of this.#waiting) {
      const used = this.#usedBy.get(waiting.owner) ?? 0
      if (used >= least) continue
      best = waiting
      least = used
      if (used === 0) break
    }
    return best
  }

  #mayGo({ owner, bytes }: Pick<Waiting<Owner>, 'owner' | 'bytes'>): boolean {
    const most = this.#usedBy.has(owner) ? this.#most : this.#most * FOR_FIRST
    return this.#used === 0 || this.#used + bytes <= most
  }

  #add(owner: Owner, bytes: number): void {
    this.#used += bytes
    const used = (this.#usedBy.get(owner) ?? 0) + bytes
    if (used === 0) this.#usedBy.delete(owner)
    else this.#usedBy.set(owner, used)
  }
}
