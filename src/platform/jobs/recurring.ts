import { type Clock, MICROS_PER_MS, type Micros } from '../clock/clock.ts'
import type { Transaction } from '../storage/database.ts'
import { enqueueJob } from './enqueue.ts'
import { type Job, type JobContext, type JobHandler, type JobKind, jobKind } from './job-kind.ts'
import { liveJobsOfKey } from './store.ts'

/**
 * Work that is done once per interval, by whichever process claims it: one job that is never finished, only due again.
 * It never dies either; a failing one is tried again with backoff, at the latest after one interval.
 */
export interface Recurring {
  /** Name of its kind of job. */
  name: string
  everyMs: number
  /** Whether a start makes it due at once: for what a restored backup or another version may have left to do. */
  atStart?: boolean
  /** As for any job: aborts the signal, counts as a failure. */
  timeoutMs?: number
  run(context: JobContext, job: Job): Promise<void>
}

const KEY = 'recurring'

export function recurringKind(recurring: Recurring): JobKind<null> {
  return jobKind<null>(recurring.name, {
    join: 'keep',
    concurrency: 1,
    maxAttempts: Number.POSITIVE_INFINITY,
    backoff: { maxMs: Math.min(recurring.everyMs, 15 * 60_000), initialMs: Math.min(recurring.everyMs, 1_000) },
    timeoutMs: recurring.timeoutMs,
  })
}

export function recurringHandler(recurring: Recurring, clock: Clock): JobHandler<null> {
  return async (job, context) => {
    const again = () => ({ againAt: nextOccurrence(job.dueAt, recurring.everyMs, clock.now()) })
    await recurring.run({ ...context, complete: (tx) => context.complete(tx, again()) }, job)
    return again()
  }
}

/** The first beat after `now`, in step with the last one; beats that were missed are not made up for. */
export function nextOccurrence(lastAt: Micros, everyMs: number, now: Micros): Micros {
  const every = everyMs * MICROS_PER_MS
  const missed = Math.max(0, Math.floor((now - lastAt) / every))
  return lastAt + (missed + 1) * every
}

/** Sees to it that the job is there, whichever process starts first, and is due in time: within the interval set now, or at once. */
export async function ensureRecurring(
  tx: Transaction,
  kind: JobKind<null>,
  withinMs: number,
  now: Micros,
): Promise<void> {
  const live = await tx.run(liveJobsOfKey, { kind: kind.name, key: KEY })
  if (live.length === 0) {
    await enqueueJob(tx, { kind, key: KEY, payload: null }, now)
    return
  }
  const latest = now + withinMs * MICROS_PER_MS
  const tooLate = live.some((job) => job.state === 'waiting' && job.due_at > latest)
  if (tooLate) await enqueueJob(tx, { kind, key: KEY, payload: null, dueAt: latest }, now)
}
