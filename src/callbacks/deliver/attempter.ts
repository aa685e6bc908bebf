import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import { OutageLog } from '../../platform/logging/outage-log.ts'
import type { HeldMemory, SharedMemory } from '../../platform/memory/shared-memory.ts'
import type { GiveUpSignal } from '../../platform/outbound/give-up.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database } from '../../platform/storage/database.ts'
import { isStorageAway } from '../../platform/storage/storage-errors.ts'
import { terminalFailure, type Verdict } from '../destination/answer/verdict.ts'
import type { Courier } from '../destination/send/courier.ts'
import { requestHeaders } from '../destination/send/request-headers.ts'
import type { ActiveNamespace, NamespacePolicies } from '../namespace/namespace-policies.ts'
import { attemptRecord } from '../run/attempt-record.ts'
import type { AttemptRecord, WaitingRun } from '../run/run.ts'
import type { Sendable } from '../run/sendable.ts'
import { findCompletionBytes, findInput } from '../run/store-runs.ts'
import { openInput, StoredCallbackUnreadable, toSendable } from '../run/stored-callback.ts'
import { type RetryPolicy, withGiven } from '../state/retry-policy.ts'
import type { RunEvent } from '../state/run-event.ts'
import { admitAttempt, attemptTimeoutMicros, type RunRecord } from '../state/run-record.ts'
import { claimNeededUntil } from './claims.ts'
import { bytesOf, type Lane } from './lane.ts'
import type { Lanes } from './lanes.ts'

export interface Attempted {
  event: RunEvent
  verdict: Verdict
  log: AttemptRecord
  /** The policy by which the next attempt is planned. */
  retry: RetryPolicy
  /** False when nothing was sent, and nothing is said about the destination. */
  isSent: boolean
}

// Smaller ones are bounded by how many may be in flight.
const LARGE_BYTES = 64 * 1024
// What sends gives up early by so much at most: its timers count whole milliseconds, by a clock that may lag behind by another one.
const EARLY_MICROS = 3 * MICROS_PER_MS

type MakeRoom = (bytes: number) => Promise<void>

export interface AttempterOptions {
  db: Database
  clock: Clock
  log: Logger
  cipher: Cipher
  courier: Courier
  namespaces: NamespacePolicies
  lanes: Lanes
  memory: SharedMemory<number>
}

/** Makes one attempt: what is sent, where to, for how long, and what came of it. */
export class Attempter {
  readonly #options: AttempterOptions
  readonly #outage: OutageLog

  constructor(options: AttempterOptions) {
    this.#options = options
    this.#outage = new OutageLog(options.log)
  }

  /**
   * Null when it could not be made, or there is nothing to attempt any more. `lapsed`: nothing was sent, because the claim might end
   * before the attempt does; attempts may take longer than they could when it was made.
   */
  async attempt(lane: Lane, run: WaitingRun, signal: GiveUpSignal): Promise<Attempted | 'lapsed' | null> {
    try {
      const attempted = await this.#make(lane, run, signal)
      this.#outage.over()
      return attempted
    } catch (error) {
      // Broken off because the run was closed, or the server stops: nothing is wrong.
      if (!signal.aborted) this.#tell(error, run)
      return null
    }
  }

  /** Storage that is away, or too many open files, keep all attempts from being made. */
  #tell(error: unknown, { runId }: WaitingRun): void {
    const message = 'an attempt could not be made'
    if (isStorageAway(error)) this.#outage.tell({ err: error, runId }, message)
    else this.#options.log.error({ err: error, runId }, message)
  }

  async #make(lane: Lane, run: WaitingRun, signal: GiveUpSignal): Promise<Attempted | 'lapsed' | null> {
    const { namespaces, lanes } = this.#options
    const namespace = namespaces.peekById(run.namespaceId) ?? (await namespaces.findById(run.namespaceId))
    if (namespace === null) return null
    lanes.use(lane, namespace)
    // What is sent may be larger than what is stored, or smaller than what was kept free for it.
    let more: number | null = null
    const isRead = run.sendable !== undefined || run.input !== undefined
    const held = isRead ? null : await this.#hold(lane, run, signal)
    const makeRoom = async (bytes: number) => {
      const difference = bytes - bytesOf(run)
      held?.shrinkTo(bytes)
      await lane.makeRoom(difference, signal)
      more = difference
      if (difference < 0 && lane.queued > 0) lanes.onChange(lane)
    }
    try {
      return await this.#attempt(run, namespace, signal, makeRoom)
    } finally {
      if (more !== null) lane.giveRoom(more)
      held?.giveBack()
    }
  }

  /** Memory for its input. Those that are not large wait for none, so they are told apart where it is short. */
  async #hold(lane: Lane, run: WaitingRun, signal: GiveUpSignal): Promise<HeldMemory | null> {
    const { db, memory } = this.#options
    const isKnown = run.completionBytes !== undefined || memory.isFree(lane.destinationId, bytesOf(run))
    const bytes = isKnown ? bytesOf(run) : await findCompletionBytes(db, run.runNumber)
    return bytes <= LARGE_BYTES ? null : memory.take(lane.destinationId, bytes, signal)
  }

  async #attempt(
    run: WaitingRun,
    namespace: ActiveNamespace,
    signal: GiveUpSignal,
    makeRoom: MakeRoom,
  ): Promise<Attempted | 'lapsed' | null> {
    const sendable = run.sendable ?? (await this.#read(run, makeRoom))
    // What came of it may have to wait until it is stored, and needs them no more.
    run.sendable = undefined
    run.input = undefined
    if (sendable === null) return null
    if (sendable instanceof StoredCallbackUnreadable) return this.#refuse(run, namespace, sendable)
    const preparing = this.#options.courier.preparing()
    if (preparing !== null) await preparing
    if (admitAttempt(run.record, run.record.attempt, this.#options.clock.now()) !== 'go') return null
    return this.#send(run, namespace, sendable, signal)
  }

  async #send(
    { runId, record, leasedUntil = Number.POSITIVE_INFINITY }: WaitingRun,
    { policy, targetPolicy, retryPolicy: retry, signingSecrets: secrets }: ActiveNamespace,
    { target, callback, completion }: Sendable,
    signal: GiveUpSignal,
  ): Promise<Attempted | 'lapsed' | null> {
    const { clock, courier } = this.#options
    const startedAt = clock.now()
    const timeoutMs = Math.ceil(
      attemptTimeoutMicros(record, policy.request_timeout * MICROS_PER_MS, startedAt) / MICROS_PER_MS,
    )
    if (leasedUntil < claimNeededUntil(startedAt, timeoutMs)) return 'lapsed'
    const attempt = record.attempt + 1
    const facts = { runId, attempt, createdAt: record.createdAt, attemptedAt: startedAt, callback, completion, secrets }
    const delivering = courier.deliver({
      target,
      policy: targetPolicy,
      headers: requestHeaders(facts),
      body: completion.body,
      timeoutMs,
      maxDelayMs: withGiven(retry, record.retryPolicy).maximumMicros / MICROS_PER_MS,
      signal,
    })
    // What had no time left could not be sent, and that is no fault of this server's.
    const delivery = await delivering.catch((error: unknown) => {
      if (isTimeUp(record, clock.now())) return null
      throw error
    })
    const endedAt = clock.now()
    if (delivery === null) return null
    const { verdict } = delivery
    // Broken off because the run's time is over: it times out, and no attempt of it has failed.
    if (verdict.result !== 'success' && isTimeUp(record, endedAt)) return null
    const log = attemptRecord(delivery, startedAt, endedAt)
    return { event: eventOf(record.attempt, verdict), verdict, log, retry, isSent: true }
  }

  /** It would be the same at every attempt: the run ends. */
  #refuse({ record, runId }: WaitingRun, { retryPolicy: retry }: ActiveNamespace, error: Error): Attempted {
    const { clock, log } = this.#options
    log.error({ err: error, runId }, 'a stored callback cannot be read and fails for good')
    const verdict = terminalFailure(error.message)
    const now = clock.now()
    return {
      event: eventOf(record.attempt, verdict),
      verdict,
      log: attemptRecord({ verdict, statusCode: null, snippet: '', address: null }, now, now),
      retry,
      isSent: false,
    }
  }

  async #read(run: WaitingRun, makeRoom: MakeRoom): Promise<Sendable | StoredCallbackUnreadable | null> {
    const { db, cipher } = this.#options
    const input = run.input ?? (await findInput(db, run.runNumber))
    if (input === undefined) return null
    const opened = openInput(cipher, input, run.runId)
    if (opened instanceof StoredCallbackUnreadable) return opened
    if (opened.bodyBytes !== bytesOf(run)) await makeRoom(opened.bodyBytes)
    return toSendable(opened, run.runId)
  }
}

function isTimeUp({ deadlineAt }: RunRecord, now: Micros): boolean {
  return deadlineAt !== null && deadlineAt - now < EARLY_MICROS
}

function eventOf(tag: number, { result, message, retryAfterMs }: Verdict): RunEvent {
  if (result === 'success') return { kind: 'attempt_succeeded', tag }
  return {
    kind: 'attempt_failed',
    tag,
    isRetryable: result === 'retryable',
    message,
    ...(retryAfterMs !== undefined && { retryAfterMicros: retryAfterMs * MICROS_PER_MS }),
  }
}
