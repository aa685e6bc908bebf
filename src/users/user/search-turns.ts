import { callerKey, type Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { Turns } from '../../platform/clock/turns.ts'
import { StreamSlots } from '../../platform/http/answer/stream-slots.ts'

export type Caller = Pick<Principal, 'kind' | 'organizationId' | 'userId' | 'credentialId'>

// A search holds a snapshot to its end, so most of them are kept for everybody else.
const SLOTS = { open: 2, waiting: 10_000, waitMs: 30_000 }

/** One search of each caller at a time and two altogether: who asks for many waits behind their own and nobody else does. */
export class SearchTurns {
  readonly #ofCaller = new Turns()
  readonly #slots: StreamSlots

  constructor(clock: Clock) {
    this.#slots = new StreamSlots(clock, SLOTS)
  }

  /** Settles when it is the caller's turn, whose end the answer tells. Fails for who has `gone` by then. */
  async take(caller: Caller, gone: AbortSignal): Promise<() => void> {
    const endTurn = await this.#ofCaller.take(callerKey(caller))
    try {
      const leave = await this.#slots.enter(gone)
      return () => {
        leave()
        endTurn()
      }
    } catch (error) {
      endTurn()
      throw error
    }
  }
}
