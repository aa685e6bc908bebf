import { MICROS_PER_MS, type Micros } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import { newId } from '../ids/uuid.ts'
import type { Transaction } from '../storage/database.ts'
import type { JobId, JobKind } from './job-kind.ts'
import { encodePayload } from './payload.ts'
import { insertOverwriting, insertYielding } from './store.ts'

export interface JobRequest<Payload = unknown> {
  kind: JobKind<Payload>
  /** Requests of one kind with the same key are one piece of work: a waiting one is joined, see Join. */
  key?: string
  payload: Payload
  /** Now when absent. */
  dueAt?: Micros
}

export interface Enqueued {
  id: JobId
  /** Whether it became part of a job that was waiting already. */
  joined: boolean
}

/** Topic of the signals that wake the engines; the body is the name of the kind. */
export const JOBS_TOPIC = 'jobs'

/** Engines look this often by themselves, so what is due later than that needs no signal. */
export const SAFETY_POLL_MS = 5_000

const LONGEST_KEY = 512

/**
 * Asks for work inside the caller's transaction: the job exists exactly when its cause was committed.
 * Through a JobEngine use its own `enqueue`, which knows the time.
 */
export async function enqueueJob<Payload>(
  tx: Transaction,
  request: JobRequest<Payload>,
  now: Micros,
): Promise<Enqueued> {
  const { kind, key, dueAt = now } = request
  const payload = encodePayload(kind.name, request.payload)
  // A key is part of an index: PostgreSQL refuses long ones, and a NUL in any text.
  if (
    key !== undefined &&
    (key.length === 0 || key.length > LONGEST_KEY || key.includes('\0') || !key.isWellFormed())
  ) {
    throw new AppError('invalid_argument', `The key of a job needs 1 to ${LONGEST_KEY} characters of valid text`)
  }
  if (!Number.isSafeInteger(dueAt))
    throw new AppError('invalid_argument', 'A job is due at a whole number of microseconds')
  const id = newId<'Job'>()
  const [row] = await tx.run(kind.join === 'keep' ? insertYielding : insertOverwriting, {
    id,
    kind: kind.name,
    coalesce_key: key ?? null,
    payload,
    due_at: dueAt,
    attempt: 0,
    fence: 0,
    last_error: null,
    created_at: now,
    changed_at: now,
  })
  if (dueAt - now < SAFETY_POLL_MS * MICROS_PER_MS) signalOnce(tx, kind.name)
  const kept = (row as { id: JobId }).id
  return { id: kept, joined: kept !== id }
}

const signalled = new WeakMap<Transaction, Set<string>>()

/** A transaction that enqueues thousands of jobs still says so once per kind: a signal is a round trip on PostgreSQL. */
export function signalOnce(tx: Transaction, kind: string): void {
  const kinds = signalled.get(tx) ?? new Set()
  signalled.set(tx, kinds)
  if (kinds.has(kind)) return
  kinds.add(kind)
  tx.signal(JOBS_TOPIC, kind)
}
