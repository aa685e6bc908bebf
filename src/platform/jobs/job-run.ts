import type { Clock, Micros } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Transaction } from '../storage/database.ts'
import { LeaseLost, TimedOut } from './failures.ts'
import type { Again, Job, JobHandler, JobKind } from './job-kind.ts'
import type { HeldLease } from './lease-keeper.ts'
import { type Outcome, outcomeOfAnswer, outcomeOfFailure } from './outcome.ts'
import { decodePayload } from './payload.ts'
import { settle } from './settle.ts'
import type { ClaimedRow } from './store.ts'

export interface RunResult {
  /** Undefined when there is nothing to record: the job belongs to another process. */
  outcome: Outcome | undefined
  /** Recorded already, in a transaction of the handler. */
  settled: boolean
  error?: unknown
}

/** One run of one claimed job: from the handler's start to its outcome. Writes nothing but what the handler asks for. */
export class JobRun implements HeldLease {
  readonly row: ClaimedRow
  readonly kind: JobKind
  leaseUntil: Micros
  lost = false
  completing = false
  readonly #clock: Clock
  readonly #log: Logger
  readonly #controller = new AbortController()
  #settled: Outcome | undefined

  constructor(row: ClaimedRow, kind: JobKind, clock: Clock, log: Logger) {
    this.row = row
    this.kind = kind
    this.leaseUntil = row.lease_until
    this.#clock = clock
    this.#log = log
  }

  abort(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** Never rejects. */
  async work(handler: JobHandler<unknown>): Promise<RunResult> {
    const { timeoutMs } = this.kind
    const timer = timeoutMs > 0 ? this.#clock.after(timeoutMs, () => this.abort(new TimedOut(timeoutMs))) : undefined
    try {
      const answer = await handler(this.#job(), {
        signal: this.#controller.signal,
        log: this.#log,
        complete: (tx, again) => this.#complete(tx, again),
      })
      if (this.#settled !== undefined) return { outcome: this.#settled, settled: true }
      return { outcome: outcomeOfAnswer(this.kind, answer ?? undefined), settled: false }
    } catch (error) {
      if (this.#settled !== undefined) return { outcome: this.#settled, settled: true, error }
      const { reason: aborted } = this.#controller.signal
      const failure = { error, attempt: this.row.attempt, now: this.#clock.now(), aborted }
      return { outcome: outcomeOfFailure(this.kind, failure), settled: false, error }
    } finally {
      timer?.()
    }
  }

  #job(): Job {
    const { id, kind, coalesce_key, attempt, due_at, created_at } = this.row
    const payload = decodePayload(this.row.payload)
    return { id, kind, key: coalesce_key, payload, attempt, dueAt: due_at, createdAt: created_at }
  }

  async #complete(tx: Transaction, again?: Again): Promise<void> {
    const outcome = outcomeOfAnswer(this.kind, again)
    this.completing = true
    const settled = await settle(tx, this.row, this.kind.join, outcome, this.#clock.now())
    if (!settled) throw new LeaseLost(this.row.id)
    tx.afterCommit(() => {
      this.#settled = outcome
    })
  }
}
