import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { WaitingRun } from '../run/run.ts'
import type { Lane } from './lane.ts'
import { type TakeDue, takeDue } from './store-due.ts'
import { extendLease, releaseLeases, releaseLeasesUntil } from './store-leases.ts'

// A claim outlives the attempt by this, so that its result is stored before another process may try.
export const LEASE_MARGIN_MS = 10_000
// The part of it that is left when the attempt ends at the latest. The other part may pass before the attempt begins.
const STORING_MS = 5_000
// Of one destination; of those beyond it the oldest end by themselves.
const MOST_LOST = 100

export interface ClaimsOptions {
  db: Database
  clock: Clock
  /** Names this process in the claims it makes. */
  owner: string
}

/** Takes runs that are due from the database; where other processes do the same, for as long as an attempt may take. */
export class Claims {
  readonly #options: ClaimsOptions
  /** By destination: until when claims hold whose answer never came. They may have been made, and nobody has the runs in hand. */
  readonly #lost = new Map<number, Micros[]>()

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  async take(lane: Lane, limit: number): Promise<WaitingRun[]> {
    if (this.#lost.has(lane.destinationId)) await this.#giveBackLost(lane.destinationId)
    return this.#take({ limit, exclude: [...lane.known], ...this.#claim(lane) })
  }

  /** This one and no other. */
  async takeOne(lane: Lane, runNumber: number): Promise<WaitingRun | undefined> {
    const [run] = await this.#take({ limit: 1, exclude: [], only: runNumber, ...this.#claim(lane) })
    return run
  }

  /** What is not attempted: others need not wait until the claims end. */
  async giveBack(runNumbers: readonly number[]): Promise<void> {
    const { db, clock, owner } = this.#options
    if (runNumbers.length === 0) return
    await db.write((tx) => releaseLeases(tx, owner, runNumbers, clock.now()), { isolation: 'read committed' })
  }

  /**
   * Gives back what lay in the queue for so long that an attempt might outlive its claim, and says when that is done; null when
   * there is none. Attempts begin right after the claim, unless results could not be stored or the breaker opened meanwhile.
   */
  giveBackLapsed(lane: Lane): Promise<void> | null {
    const lapsed = lane.takeLapsed(claimNeededUntil(this.#options.clock.now(), lane.requestTimeoutMs))
    return lapsed.length === 0 ? null : this.return(lane, lapsed)
  }

  /** What became of an attempt is known and cannot be stored for so long: nobody else makes it meanwhile. */
  async keep({ requestTimeoutMs }: Lane, runNumber: number, ms: number): Promise<void> {
    const { db, clock, owner } = this.#options
    if (db.engine === 'sqlite') return
    const until = clock.now() + (ms + requestTimeoutMs + LEASE_MARGIN_MS) * MICROS_PER_MS
    await db.write((tx) => extendLease(tx, owner, runNumber, until), { isolation: 'read committed' })
  }

  /** Gives them back; then the lane may take them again, for as long as an attempt may take by then. */
  return(lane: Lane, runNumbers: readonly number[]): Promise<void> {
    return this.giveBack(runNumbers).finally(() => {
      for (const runNumber of runNumbers) lane.forget(runNumber)
    })
  }

  async #take(wanted: TakeDue): Promise<WaitingRun[]> {
    const { db } = this.#options
    if (db.engine === 'sqlite') return takeDue(db, wanted)
    const { destinationId, leaseUntil } = wanted
    try {
      return (await takeDue(db, wanted)).map((run) => ({ ...run, leasedUntil: leaseUntil }))
    } catch (error) {
      this.#lost.set(destinationId, [...(this.#lost.get(destinationId) ?? []), leaseUntil].slice(-MOST_LOST))
      throw error
    }
  }

  /** No other claim ends at the same microsecond, so what is known to be held stays so. */
  async #giveBackLost(destinationId: number): Promise<void> {
    const { db, clock, owner } = this.#options
    const lost = this.#lost.get(destinationId) ?? []
    await db.write((tx) => releaseLeasesUntil(tx, { owner, destinationId, untils: lost, dueAt: clock.now() }), {
      isolation: 'read committed',
    })
    const left = this.#lost.get(destinationId)?.filter((until) => !lost.includes(until)) ?? []
    if (left.length === 0) this.#lost.delete(destinationId)
    else this.#lost.set(destinationId, left)
  }

  #claim({ destinationId, requestTimeoutMs }: Lane) {
    const { clock, owner } = this.#options
    const now = clock.now()
    return { destinationId, now, owner, leaseUntil: now + (requestTimeoutMs + LEASE_MARGIN_MS) * MICROS_PER_MS }
  }
}

/** Until when a run has to be claimed so that an attempt may begin at `now`. */
export function claimNeededUntil(now: Micros, timeoutMs: number): Micros {
  return now + (timeoutMs + STORING_MS) * MICROS_PER_MS
}
