import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { Call } from '../call.ts'
import type { NamespaceId } from '../namespace/namespace.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import type { CallbackPolicy } from '../settings.ts'
import type { StoredRun } from './run.ts'
import type { RunWatch } from './run-watch.ts'
import { transitionCounts } from './store-runs.ts'

// Nobody who gives us less than this expects an answer before it is over.
const SHORT_DEADLINE_MS = 1_000
// How long an answer may take to a caller that would not see a later one.
const MOST_ON_THE_WAY_MS = 250
// Clients of Python, C++ and Ruby send a second as 1010 ms: answered at once, they would ask again without pause.
const ROUNDED_UP = 1.02
const RETRY_AFTER_SECONDS = 1

export interface LongPollsOptions {
  db: Database
  clock: Clock
  watch: RunWatch
}

/** Requests that wait for something to happen to a run. */
export class LongPolls {
  readonly #options: LongPollsOptions
  readonly #open = new Map<NamespaceId, number>()
  #isClosing = false

  constructor(options: LongPollsOptions) {
    this.#options = options
  }

  /**
   * The run as soon as it is as wanted; null when it is not so in the time there is, or the server stops. Undefined
   * when there is no such run, or none any more.
   */
  async until<Run extends StoredRun>(
    call: Call,
    namespace: ActiveNamespace,
    read: () => Promise<Run | undefined>,
    isWanted: (run: Run) => boolean,
  ): Promise<Run | null | undefined> {
    const { clock } = this.#options
    const endsAtMs = clock.elapsedMs() + waitLimitMs(namespace.policy, call)
    let run = await read()
    if (run === undefined || isWanted(run)) return run
    this.#enter(namespace)
    try {
      for (;;) {
        if (!(await this.#changes(run, call, endsAtMs))) return null
        await call.refuseUnlessStillAllowed()
        run = await read()
        if (run === undefined || isWanted(run)) return run
      }
    } finally {
      this.#leave(namespace)
    }
  }

  /** The server begins to stop: whoever waits is answered. */
  close(): void {
    this.#isClosing = true
    this.#options.watch.wakeAll()
  }

  /** False when the time is over. */
  async #changes({ runNumber, record }: StoredRun, call: Call, endsAtMs: number): Promise<boolean> {
    const { db, clock, watch } = this.#options
    const leftMs = endsAtMs - clock.elapsedMs()
    if (leftMs <= 0 || this.#isClosing) return false
    const enough = new AbortController()
    const signal = AbortSignal.any([call.signal, enough.signal])
    const changed = watch.changed(runNumber, record.transitionCount, leftMs, signal)
    // It may have changed between reading it and watching it.
    const counts = await transitionCounts(db, [runNumber])
    if (counts.get(runNumber) === record.transitionCount) await changed
    enough.abort()
    if (call.signal.aborted) throw new AppError('canceled', 'The caller went away')
    return true
  }

  #enter({ id, policy }: ActiveNamespace): void {
    const open = this.#open.get(id) ?? 0
    if (open >= policy.max_open_long_polls) {
      throw new AppError(
        'rate_limited',
        `Too many long polls are open in this namespace: retry in ${RETRY_AFTER_SECONDS} second`,
        { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
      )
    }
    this.#open.set(id, open + 1)
  }

  #leave({ id }: ActiveNamespace): void {
    const open = (this.#open.get(id) ?? 1) - 1
    if (open === 0) this.#open.delete(id)
    else this.#open.set(id, open)
  }
}

/** How long a poll waits at most: it answers a little before its caller gives up. */
export function waitLimitMs(
  { long_poll: limits }: Pick<CallbackPolicy, 'long_poll'>,
  { deadlineMs, isCutOff = false }: Pick<Call, 'deadlineMs' | 'isCutOff'>,
): number {
  if (deadlineMs === null) return limits.timeout
  const isShort = deadlineMs < SHORT_DEADLINE_MS || deadlineMs <= limits.buffer * ROUNDED_UP
  const onTheWay = isCutOff ? Math.min(MOST_ON_THE_WAY_MS, deadlineMs / 4) : 0
  return Math.min(limits.timeout, deadlineMs - Math.max(isShort ? 0 : limits.buffer, onTheWay))
}
