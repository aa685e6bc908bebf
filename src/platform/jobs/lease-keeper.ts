import { type Clock, MICROS_PER_MS, type Micros } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../storage/database.ts'
import { LeaseLost } from './failures.ts'
import { type ClaimedRow, renewLeases } from './store.ts'

/** One claimed job as long as its handler runs. */
export interface HeldLease {
  readonly row: ClaimedRow
  leaseUntil: Micros
  lost: boolean
  /** A transaction that settles it is on its way: the row may be gone before this process knows why. */
  readonly completing: boolean
  abort(reason: Error): void
}

// A lease is looked at four times in its life: it is young at the first, renewed at the second, or if that failed at
// the third, and given up at the fourth, up to a quarter before another process may take it.
const BEATS_PER_LEASE = 4

/**
 * Renews the leases of running jobs. A lease that could not be renewed in time is taken as lost by the clock of this
 * process: its handler is asked to stop before another process may start the job.
 */
export class LeaseKeeper {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #owner: string
  readonly #leaseMs: number
  readonly #beatMs: number
  readonly #held = new Set<HeldLease>()
  #cancelTimer: (() => void) | undefined
  #renewal: Promise<void> | undefined

  constructor(options: { db: Database; clock: Clock; log: Logger; owner: string; leaseMs: number }) {
    this.#db = options.db
    this.#clock = options.clock
    this.#log = options.log
    this.#owner = options.owner
    this.#leaseMs = options.leaseMs
    this.#beatMs = options.leaseMs / BEATS_PER_LEASE
  }

  get held(): ReadonlySet<HeldLease> {
    return this.#held
  }

  hold(lease: HeldLease): void {
    this.#held.add(lease)
    this.#cancelTimer ??= this.#clock.after(this.#beatMs, () => this.#onTimer())
  }

  /** The job is settled or gone: nothing is left to renew. */
  drop(lease: HeldLease): void {
    this.#held.delete(lease)
    if (this.#held.size === 0) this.stop()
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  /** Whether the row is the lease of a handler that still runs here in good faith. */
  isHeld(row: Pick<ClaimedRow, 'id' | 'fence'>): boolean {
    for (const lease of this.#held) {
      if (lease.row.id === row.id && lease.row.fence === row.fence) return !lease.lost
    }
    return false
  }

  /** Whether it is too late to begin with it, or to go on: another process may take it soon. */
  isEndangered({ leaseUntil }: Pick<HeldLease, 'leaseUntil'>): boolean {
    return leaseUntil < this.#clock.now() + this.#beatMs * MICROS_PER_MS
  }

  /** Never rejects: a renewal that fails is tried again until the lease runs out. */
  renew(): Promise<void> {
    this.#renewal ??= this.#renewAll().finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  #onTimer(): void {
    // NOTE The next beat does not wait for the answer: storage that hangs must not keep a lease from running out.
    this.#cancelTimer = this.#held.size > 0 ? this.#clock.after(this.#beatMs, () => this.#onTimer()) : undefined
    for (const lease of this.#held) if (this.isEndangered(lease)) this.#lose(lease)
    void this.renew()
  }

  async #renewAll(): Promise<void> {
    const now = this.#clock.now()
    // Young leases are left alone: a short job costs no renewal.
    const ageing = now + (this.#leaseMs - this.#beatMs) * MICROS_PER_MS
    const due = [...this.#held].filter((lease) => !lease.lost && lease.leaseUntil <= ageing)
    if (due.length === 0) return
    const leaseUntil = now + this.#leaseMs * MICROS_PER_MS
    const ids = JSON.stringify(due.map((lease) => lease.row.id))
    try {
      const renewed = await this.#db.write((tx) => tx.run(renewLeases, { ids, owner: this.#owner, leaseUntil }), {
        isolation: 'read committed',
      })
      const fences = new Map(renewed.map((row) => [row.id, row.fence]))
      for (const lease of due) {
        if (fences.get(lease.row.id) === lease.row.fence) lease.leaseUntil = leaseUntil
        // A job that was settled meanwhile has no lease either.
        else if (this.#held.has(lease) && !lease.completing) this.#lose(lease)
      }
    } catch (error) {
      this.#log.warn({ err: error, jobs: due.length }, 'leases of running jobs could not be renewed')
    }
  }

  #lose(lease: HeldLease): void {
    if (lease.lost) return
    lease.lost = true
    this.#log.warn({ job: lease.row.id, kind: lease.row.kind }, 'the lease of a running job was lost')
    lease.abort(new LeaseLost(lease.row.id))
  }
}
