import type { Clock } from '../../clock/clock.ts'
import { AppError } from '../../errors/app-error.ts'
import { callerWentAway } from './gone-signal.ts'

export interface SlotLimits {
  open: number
  waiting: number
  waitMs: number
}

/** So many at a time; the others wait in line, within bounds. */
export class StreamSlots {
  readonly #clock: Clock
  readonly #limits: SlotLimits
  readonly #line = new Set<() => void>()
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
  async enter(gone: AbortSignal): Promise<() => void> {
    if (gone.aborted) throw callerWentAway()
    if (this.#open < this.#limits.open) this.#open++
    else if (this.#line.size < this.#limits.waiting) await this.#wait(gone)
    else throw busy()
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      this.#leave()
    }
  }

  #wait(gone: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const line = this.#line
    const cancel = this.#clock.after(this.#limits.waitMs, () => giveUp(busy()))
    const onGone = () => giveUp(callerWentAway())
    gone.addEventListener('abort', onGone, { once: true })
    line.add(resolve)
    function giveUp(reason: AppError): void {
      line.delete(resolve)
      reject(reason)
    }
    return promise.finally(() => {
      cancel()
      gone.removeEventListener('abort', onGone)
    })
  }

  /** The slot goes to the next in line, if there is one. */
  #leave(): void {
    const [next] = this.#line
    if (next === undefined) this.#open--
    else {
      this.#line.delete(next)
      next()
    }
  }
}

function busy(): AppError {
  return new AppError('unavailable', 'Too many long answers are being read right now: try again in a moment', {
    headers: { 'retry-after': '5' },
  })
}
