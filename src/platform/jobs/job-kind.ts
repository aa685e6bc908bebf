import type { Micros } from '../clock/clock.ts'
import type { Id } from '../ids/uuid.ts'
import type { Logger } from '../logging/logger.ts'
import type { Transaction } from '../storage/database.ts'
import { type Backoff, DEFAULT_BACKOFF } from './backoff.ts'

export type JobId = Id<'Job'>

/**
 * Whose payload stays when a job meets a waiting one of the same key:
 *
 * - `latest`: that of the newer request, which also gets all its tries anew. For work that carries its input.
 * - `keep`: that of the older request, with the tries it has used up. For work that reads its input when it runs.
 *
 * Either way the job is due at the earlier of both times.
 */
export type Join = 'latest' | 'keep'

/** What is true for all jobs of one kind. `_payload` exists for the type checker only. */
export interface JobKind<Payload = unknown> {
  readonly name: string
  readonly join: Join
  /** Tries until the job is dead; a lost lease counts, a shutdown does not. */
  readonly maxAttempts: number
  readonly backoff: Backoff
  /** Jobs of this kind that one process runs at the same time. */
  readonly concurrency: number
  /** Aborts the handler's signal and counts as a failure; 0 for work that may take as long as it takes. */
  readonly timeoutMs: number
  readonly _payload?: Payload
}

export interface JobKindOptions {
  join?: Join
  maxAttempts?: number
  backoff?: Partial<Backoff>
  concurrency?: number
  timeoutMs?: number
}

const NAME = /^[a-z][a-z0-9_.-]{0,99}$/

export function jobKind<Payload>(name: string, options: JobKindOptions = {}): JobKind<Payload> {
  const kind = {
    name,
    join: options.join ?? 'latest',
    maxAttempts: options.maxAttempts ?? 20,
    backoff: { ...DEFAULT_BACKOFF, ...options.backoff },
    concurrency: options.concurrency ?? 4,
    timeoutMs: options.timeoutMs ?? 0,
  } as const
  if (!NAME.test(name))
    throw new RangeError(`"${name}" cannot name a kind of job: use lower-case letters, digits, _ . -`)
  if (!(kind.maxAttempts >= 1) || !(kind.concurrency >= 1)) {
    throw new RangeError(`A job of kind "${name}" needs at least one attempt and room for one to run`)
  }
  return kind
}

export interface Job<Payload = unknown> {
  readonly id: JobId
  readonly kind: string
  readonly key: string | null
  readonly payload: Payload
  /** Counts from 1. */
  readonly attempt: number
  readonly dueAt: Micros
  readonly createdAt: Micros
}

/** Answer of a handler whose work goes on later: the job stays, with its tries anew. */
export interface Again<Payload = unknown> {
  againAt: Micros
  /** Where to go on; the same payload when absent. A waiting job of the same key may overrule it, see Join. */
  payload?: Payload
}

export interface JobContext<Payload = unknown> {
  /** Aborted when the lease was lost, time is up, or the process shuts down. Hand it to everything that waits. */
  readonly signal: AbortSignal
  readonly log: Logger
  /**
   * Settles the job inside a transaction of the handler, so that what it wrote and the end of the job are one change:
   * exactly once. Throws LeaseLost, and so rolls back, when another process has taken the job over. Without it
   * the job is settled after the handler returned, and a crash in between runs it again: at least once.
   */
  complete(tx: Transaction, again?: Again<Payload>): Promise<void>
}

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that is done returns nothing
export type JobHandler<Payload> = (job: Job<Payload>, context: JobContext<Payload>) => Promise<Again<Payload> | void>
