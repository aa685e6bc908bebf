import { type Clock, MICROS_PER_MS, type Micros } from '../clock/clock.ts'
import { newId } from '../ids/uuid.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { WorkerStop } from '../supervisor/supervisor.ts'
import { type Backoff, retryDelayMs } from './backoff.ts'
import { drain } from './drain.ts'
import { type Enqueued, enqueueJob, JOBS_TOPIC, type JobRequest, SAFETY_POLL_MS } from './enqueue.ts'
import type { JobHandler, JobKind } from './job-kind.ts'
import { JobRun, type RunResult } from './job-run.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { type Outcome, outcomeOfLostLease } from './outcome.ts'
import { ensureRecurring, type Recurring, recurringHandler, recurringKind } from './recurring.ts'
import { Settler } from './settler.ts'
import { bringForward, type ClaimedRow, claimJobs, expiredLeases, upcomingJobs } from './store.ts'
import { type JobStatistics, jobStatistics } from './store-statistics.ts'

/*
 * The life of a job. Every arrow is one transaction; nothing in memory is the truth.
 *
 *                 claim: attempt + 1, fence + 1, lease
 *        ┌─────────┐ ───────────────────────────────► ┌─────────┐
 *  ──────► waiting │                                  │ running ├──────► (gone)
 * enqueue└─────────┘ ◄─────────────────────────────── └────┬────┘  done
 *             ▲       retry: due after a backoff           │
 *             │       again: attempt 0, due when it said   │ no attempts left, or PermanentFailure
 *             │       released: attempt - 1 (shutdown)     ▼
 *             │       lease ran out: due at once       ┌──────┐
 *             └─────────────────────────────────────── │ dead ├──────► (gone)
 *                     requeue: attempt 0, due now      └──────┘ discard
 *
 * - A key (within its kind) has at most one waiting and one running job. Whatever enters `waiting` joins the job that
 *   waits there (see Join); a waiting job is not claimed while one of its key runs.
 * - Whatever leaves `running` names the lease it holds, (id, fence). A process that lost its lease finds no row, and a
 *   handler's transaction that settles its job is rolled back as a whole.
 * - Kinds are claimed separately, each up to its own free slots: the flood or slowness of one delays no other.
 * - An engine looks for work when something was committed here or signalled by another process, when the next job is
 *   due, when a slot becomes free, and every few seconds in case a signal went missing.
 * - Times are those of the processes' own clocks: they may differ by less than a quarter of a lease.
 */

export interface JobEngineOptions {
  db: Database
  clock: Clock
  log: Logger
  leaseMs?: number
  pollMs?: number
  /** This process is the only one on the database: what is running when it starts has lost its process. */
  alone?: boolean
  /** One call per finished run, for metrics. Must not throw. */
  onOutcome?(event: { kind: string; outcome: Outcome['kind'] | 'lost'; durationMs: number }): void
}

/** What the engine knows of one kind; `dirty` and `nextDueAt` only say when to look, never what is there. */
interface Lane {
  kind: JobKind
  handler: JobHandler<unknown>
  /** At what distance from a start it must be due, where it is recurring. */
  dueWithinMs: number | null
  running: number
  dirty: boolean
  nextDueAt: Micros
}

const NEVER = Number.MAX_SAFE_INTEGER
const LARGEST_RECOVERY = 100
const OUTAGE: Backoff = { initialMs: 200, maxMs: 10_000, coefficient: 2, jitter: 0.3 }

export class JobEngine {
  readonly name = 'jobs'
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #options: Required<Pick<JobEngineOptions, 'leaseMs' | 'pollMs' | 'alone'>> &
    Pick<JobEngineOptions, 'onOutcome'>
  readonly #owner: string = newId()
  readonly #lanes = new Map<string, Lane>()
  readonly #leases: LeaseKeeper
  readonly #settler: Settler
  readonly #runs = new Set<JobRun>()
  readonly #idleWaiters: (() => void)[] = []
  #loop: Promise<void> | undefined
  #round: Promise<void> = Promise.resolve()
  #stop: Promise<void> | undefined
  #pollAt: Micros = 0
  #prepared = false
  #wakeLoop: (() => void) | undefined

  constructor(options: JobEngineOptions) {
    const { db, clock, log, leaseMs = 30_000, pollMs = SAFETY_POLL_MS, alone = false, onOutcome } = options
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#options = { leaseMs, pollMs, alone, onOutcome }
    this.#leases = new LeaseKeeper({ db, clock, log, owner: this.#owner, leaseMs })
    this.#settler = new Settler(db, clock, log)
  }

  /** Kinds that are enqueued but registered nowhere wait until a process that knows them starts. */
  register<Payload>(kind: JobKind<Payload>, handler: JobHandler<Payload>): void {
    this.#addLane(kind, handler as JobHandler<unknown>, null)
  }

  recurring(recurring: Recurring): void {
    const handler = recurringHandler(recurring, this.#clock)
    const dueWithinMs = recurring.atStart === true ? 0 : recurring.everyMs
    this.#addLane(recurringKind(recurring), handler as JobHandler<unknown>, dueWithinMs)
  }

  /** The job exists exactly when the transaction was committed. */
  async enqueue<Payload>(tx: Transaction, request: JobRequest<Payload>): Promise<Enqueued> {
    const enqueued = await enqueueJob(tx, request, this.#clock.now())
    tx.afterCommit(() => this.#wake(request.kind.name))
    return enqueued
  }

  /** Works until `stop`. Storage that does not answer, also now, is waited for. */
  start(): void {
    this.#loop ??= this.#work()
  }

  /**
   * Claims nothing more and waits for what runs. Shortly before `drainMs` is over handlers are asked to stop; what runs
   * even then is given back for another process. Resolves within `drainMs`, whatever storage and handlers do.
   */
  stop({ drainMs = 10_000 }: { drainMs?: number } = {}): Promise<void> {
    this.#stop ??= drain({
      clock: this.#clock,
      drainMs,
      log: this.#log,
      runs: this.#runs,
      settler: this.#settler,
      // A claim that is on its way may still start a run.
      idle: () => this.#round.catch(() => {}).then(() => this.whenIdle()),
    }).finally(() => this.#leases.stop())
    this.#wakeLoop?.()
    return this.#stop
  }

  /** As a worker under a supervisor: until the signal, and then as long as `stop` takes. */
  async run(signal: AbortSignal): Promise<void> {
    this.start()
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const { reason } = signal
    // A little less than the supervisor waits, so that it sees this one return.
    await this.stop(reason instanceof WorkerStop ? { drainMs: reason.graceMs * 0.95 } : {})
  }

  /** One look at everything, as the loop would do it. Resolves when what could be started has been started. */
  tick(): Promise<void> {
    this.#pollAt = 0
    return this.#nextRound()
  }

  /** Resolves as soon as no job runs in this process. */
  whenIdle(): Promise<void> {
    return this.#runs.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  statistics(): Promise<JobStatistics[]> {
    return jobStatistics(this.#db)
  }

  #addLane(kind: JobKind, handler: JobHandler<unknown>, dueWithinMs: number | null): void {
    if (this.#lanes.has(kind.name)) throw new RangeError(`Jobs of kind "${kind.name}" have a handler already`)
    if (this.#loop !== undefined) throw new Error('Register every kind of job before the engine starts')
    this.#lanes.set(kind.name, { kind, handler, dueWithinMs, running: 0, dirty: true, nextDueAt: NEVER })
  }

  // An empty name is a signal after a gap: anything may have happened.
  #wake(kind: string): void {
    for (const lane of kind === '' ? this.#lanes.values() : [this.#lanes.get(kind)]) if (lane) lane.dirty = true
    this.#wakeLoop?.()
  }

  /** NOTE Nothing may throw out of here: a server whose jobs have silently stopped looks healthy. */
  async #work(): Promise<void> {
    const unsubscribe = this.#db.subscribe(JOBS_TOPIC, (kind) => this.#wake(kind))
    for (let failures = 0; this.#stop === undefined; ) {
      try {
        await this.#nextRound()
        if (failures > 0) this.#log.info('jobs are claimed again')
        failures = 0
        await this.#sleepUntil(this.#nextLookAt())
      } catch (error) {
        failures++
        this.#log[failures === 1 ? 'error' : 'debug'](
          { err: error },
          'jobs cannot be claimed; trying again until that works',
        )
        this.#pollAt = 0
        await this.#sleepUntil(this.#clock.now() + retryDelayMs(failures, OUTAGE) * MICROS_PER_MS, { deaf: true })
      }
    }
    unsubscribe()
  }

  /** `deaf`: only a stop wakes it, so that a stream of signals does not turn an outage into a busy loop. */
  #sleepUntil(at: Micros, { deaf = false } = {}): Promise<void> {
    const ms = (at - this.#clock.now()) / MICROS_PER_MS
    if (ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        cancel()
        this.#wakeLoop = undefined
        resolve()
      }
      const cancel = this.#clock.after(ms, wake)
      this.#wakeLoop = () => {
        if (!deaf || this.#stop !== undefined) wake()
      }
      if (this.#stop !== undefined) wake()
    })
  }

  #nextLookAt(): Micros {
    let at = this.#pollAt
    for (const lane of this.#lanes.values()) {
      if (lane.running < lane.kind.concurrency) at = Math.min(at, lane.dirty ? 0 : lane.nextDueAt)
    }
    return at
  }

  #nextRound(): Promise<void> {
    this.#round = this.#round.catch(() => {}).then(() => this.#lookForWork())
    return this.#round
  }

  async #lookForWork(): Promise<void> {
    if (!this.#prepared) await this.#prepare()
    if (this.#clock.now() >= this.#pollAt) {
      for (const lane of this.#lanes.values()) lane.dirty = true
      await this.#leases.renew()
      await this.#recover(this.#clock.now())
      this.#pollAt = this.#clock.now() + this.#options.pollMs * MICROS_PER_MS
    }
    const now = this.#clock.now()
    const looking = [...this.#lanes.values()].filter(
      (lane) => lane.running < lane.kind.concurrency && (lane.dirty || lane.nextDueAt <= now),
    )
    if (looking.length === 0) return
    // Before the read: what is committed during it marks the lane again.
    for (const lane of looking) lane.dirty = false
    const kinds = JSON.stringify(looking.map((lane) => lane.kind.name))
    const due: Lane[] = []
    for (const upcoming of await this.#db.run(upcomingJobs, { kinds, now })) {
      const lane = this.#lanes.get(upcoming.kind) as Lane
      lane.nextDueAt = upcoming.next_due_at ?? NEVER
      if (upcoming.first_due_at !== null && upcoming.first_due_at <= now) due.push(lane)
    }
    // A stop while this looked leaves them to others: the reason may be that this process no longer knows what they mean.
    if (due.length > 0 && this.#stop === undefined) await this.#claim(due, now)
  }

  async #claim(due: Lane[], now: Micros): Promise<void> {
    const claims = due.map((lane) => ({ lane, limit: lane.kind.concurrency - lane.running }))
    const rows = await this.#db.write(
      async (tx) => {
        const claimed: ClaimedRow[] = []
        const leaseUntil = this.#clock.now() + this.#options.leaseMs * MICROS_PER_MS
        for (const { lane, limit } of claims) {
          const input = { kind: lane.kind.name, now, limit, owner: this.#owner, leaseUntil }
          claimed.push(...(await tx.run(claimJobs, input)))
        }
        return claimed
      },
      { isolation: 'read committed' },
    )
    for (const row of rows.sort(byDueTime)) void this.#runJob(this.#lanes.get(row.kind) as Lane, row)
    // A lane that filled up may have left due jobs behind: it looks again as soon as a slot is free.
    for (const { lane } of claims) if (lane.running >= lane.kind.concurrency) lane.dirty = true
  }

  /** NOTE Nothing may throw out of here, and the slot has to become free whatever happened. */
  async #runJob(lane: Lane, row: ClaimedRow): Promise<void> {
    const log = this.#log.child({ job: row.id, kind: row.kind, attempt: row.attempt })
    const run = new JobRun(row, lane.kind, this.#clock, log)
    lane.running++
    this.#runs.add(run)
    this.#leases.hold(run)
    try {
      await this.#workAndSettle(lane, run, log)
    } catch (error) {
      log.error({ err: error }, 'a job ended in a defect of the engine; its lease will run out')
    } finally {
      this.#leases.drop(run)
      this.#runs.delete(run)
      lane.running--
      if (this.#runs.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve()
      this.#wake(row.kind)
    }
  }

  async #workAndSettle(lane: Lane, run: JobRun, log: Logger): Promise<void> {
    const startedMs = this.#clock.elapsedMs()
    // Claimed while the engine was told to stop, or so slowly that others may have it by now: back it goes, untouched.
    const mayStart = this.#stop === undefined && !this.#leases.isEndangered(run)
    const { outcome, settled, error } = mayStart ? await run.work(lane.handler) : UNTOUCHED
    const kept = outcome !== undefined && (settled || (await this.#settler.settle(run.row, lane.kind.join, outcome)))
    const word = kept ? outcome.kind : 'lost'
    log[word === 'dead' ? 'error' : error === undefined ? 'debug' : 'warn']({ err: error }, `job ${word}`)
    this.#options.onOutcome?.({ kind: lane.kind.name, outcome: word, durationMs: this.#clock.elapsedMs() - startedMs })
  }

  async #prepare(): Promise<void> {
    if (this.#options.alone) while ((await this.#recover(NEVER)) === LARGEST_RECOVERY);
    const now = this.#clock.now()
    const kinds = JSON.stringify([...this.#lanes.keys()])
    await this.#db.write(async (tx) => {
      await tx.change(bringForward, { kinds, now })
      for (const { kind, dueWithinMs } of this.#lanes.values())
        if (dueWithinMs !== null) await ensureRecurring(tx, kind as JobKind<null>, dueWithinMs, now)
    })
    this.#prepared = true
  }

  /** Takes back leases that ran out. Whoever comes second finds that the fence has moved. */
  async #recover(before: Micros): Promise<number> {
    const kinds = JSON.stringify([...this.#lanes.keys()])
    const expired = await this.#db.run(expiredLeases, { kinds, before, limit: LARGEST_RECOVERY })
    const now = this.#clock.now()
    const settlements = expired
      .filter((row) => !this.#leases.isHeld(row))
      .map((row) => {
        const { kind } = this.#lanes.get(row.kind) as Lane
        return this.#settler.settle(row, kind.join, outcomeOfLostLease(kind, row.attempt, now))
      })
    const taken = (await Promise.all(settlements)).filter((settled) => settled).length
    if (taken > 0) this.#log.warn({ jobs: taken }, 'jobs of a process that is gone were taken back')
    return taken
  }
}

const UNTOUCHED: RunResult = { outcome: { kind: 'released' }, settled: false }

function byDueTime(a: ClaimedRow, b: ClaimedRow): number {
  return a.due_at - b.due_at || (a.id < b.id ? -1 : 1)
}
