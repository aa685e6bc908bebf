import type { Clock } from '../../clock/clock.ts'
import { AppError } from '../../errors/app-error.ts'
import { callerWentAway } from './gone-signal.ts'

export interface SlotLimits {
  open: number
  waiting: number
  waitMs: number
}

interface Waiter {
  caller: string | undefined
  resolve(): void
}

/**
 * So many at a time; the others wait in line, within bounds. A caller who is named gets all slots but one, and half of the line: who
 * keeps what it has for long keeps nobody else from their turn.
 */
export class StreamSlots {
  readonly #clock: Clock
  readonly #limits: SlotLimits
  readonly #line = new Set<Waiter>()
  readonly #ofCaller = new Map<string, number>()
  #open = 0

  constructor(clock: Clock, limits: SlotLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  get waiting(): number {
    return this.#line.size
  }

  get open(): number {
    return this.#open
  }

  /** The answer gives the slot back; calling it again does nothing. Whoever has `gone` loses its place in the line. */
  async enter(gone: AbortSignal, caller?: string): Promise<() => void> {
    if (gone.aborted) throw callerWentAway()
    if (this.#open < this.#limits.open && this.#hasShare(caller)) this.#take(caller)
    else if (this.#hasPlaceInLine(caller)) await this.#wait(gone, caller)
    else throw busy()
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      this.#leave(caller)
    }
  }

  /** Whether somebody waits who would get the slot if this caller left it. */
  isWantedFrom(caller: string | undefined): boolean {
    return this.#line.values().some((waiter) => waiter.caller === caller || this.#hasShare(waiter.caller))
  }

  #hasShare(caller: string | undefined): boolean {
    return caller === undefined || (this.#ofCaller.get(caller) ?? 0) < Math.max(1, this.#limits.open - 1)
  }

  #hasPlaceInLine(caller: string | undefined): boolean {
    if (this.#line.size >= this.#limits.waiting) return false
    if (caller === undefined) return true
    const own = this.#line.values().filter((waiter) => waiter.caller === caller)
    return own.toArray().length < this.#limits.waiting / 2
  }

  #wait(gone: AbortSignal, caller: string | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const line = this.#line
    const cancel = this.#clock.after(this.#limits.waitMs, () => giveUp(busy()))
    const onGone = () => giveUp(callerWentAway())
    gone.addEventListener('abort', onGone, { once: true })
    const waiter: Waiter = { caller, resolve }
    line.add(waiter)
    function giveUp(reason: AppError): void {
      line.delete(waiter)
      reject(reason)
    }
    return promise.finally(() => {
      cancel()
      gone.removeEventListener('abort', onGone)
    })
  }

  #take(caller: string | undefined): void {
    this.#open++
    if (caller !== undefined) this.#ofCaller.set(caller, (this.#ofCaller.get(caller) ?? 0) + 1)
  }

  /** The slot goes to the next in line who may have it, if there is one. */
  #leave(caller: string | undefined): void {
    this.#open--
    if (caller !== undefined) {
      const left = (this.#ofCaller.get(caller) ?? 0) - 1
      if (left > 0) this.#ofCaller.set(caller, left)
      else this.#ofCaller.delete(caller)
    }
    const next = this.#line.values().find((waiter) => this.#hasShare(waiter.caller))
    if (next === undefined) return
    this.#line.delete(next)
    this.#take(next.caller)
    next.resolve()
  }
}

function busy(): AppError {
  return new AppError('unavailable', 'Too many long answers are being read right now: try again in a moment', {
    headers: { 'retry-after': '5' },
  })
}
