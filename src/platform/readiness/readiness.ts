import { type Clock, settlesWithin, sleep } from '../clock/clock.ts'
import { AppError, isAppError } from '../errors/app-error.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../storage/database.ts'
import { SCHEMA_TOPIC, schemaVersion } from '../storage/migrate.ts'

const CHECK_EVERY_MS = 2_000
// Probes of several load balancers share one question to storage.
const ANSWER_FOR_MS = 250
// Less than the patience of a usual probe: storage that is silent for so long does not answer.
const PING_MS = 3_000

type State = { ready: true } | { ready: false; reason: string }

export interface ReadinessOptions {
  db: Database
  clock: Clock
  log: Logger
  /** A newer version has changed the schema under this process, which cannot know what its data mean now. Called once. */
  onOutdated: () => void
}

const OUTDATED = { ready: false, reason: 'a newer version has changed the database' } as const

interface Asked {
  answer: Promise<State>
  /** When the next who asks begins anew. */
  until: number
}

/**
 * Whether this process can serve: storage answers, no newer version has changed the schema, and it is not stopping. `/readyz`
 * asks `check()`; the gRPC health service watches. As a worker it looks every two seconds, so that a change is noticed
 * without a request.
 */
export class Readiness {
  readonly name = 'readiness'
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #onOutdated: () => void
  readonly #listeners = new Set<() => void>()
  #state: State = { ready: true }
  #asked: Asked | undefined
  #stopping = false
  #isOutdated = false

  constructor({ db, clock, log, onOutdated }: ReadinessOptions) {
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#onOutdated = onOutdated
  }

  check(): Promise<State> {
    if (this.#asked === undefined || this.#clock.elapsedMs() > this.#asked.until) this.#asked = this.#ask()
    return this.#asked.answer
  }

  status(): 'serving' | 'not_serving' {
    return this.#state.ready ? 'serving' : 'not_serving'
  }

  subscribe(onChange: () => void): () => void {
    this.#listeners.add(onChange)
    return () => this.#listeners.delete(onChange)
  }

  /** From here on load balancers send their requests elsewhere. */
  stop(): void {
    this.#stopping = true
    this.#become({ ready: false, reason: 'stopping' })
  }

  async run(signal: AbortSignal): Promise<void> {
    // At once: a job of the newer version may be waiting to be taken.
    const unsubscribe = this.#db.subscribe(SCHEMA_TOPIC, () => void this.#lookAtSchema())
    while (!signal.aborted) {
      await this.check()
      await this.#lookAtSchema()
      await sleep(this.#clock, CHECK_EVERY_MS, signal).catch(() => {})
    }
    unsubscribe()
  }

  #ask(): Asked {
    const asked = { answer: this.#look(), until: Number.POSITIVE_INFINITY }
    void asked.answer.then(() => {
      asked.until = this.#clock.elapsedMs() + ANSWER_FOR_MS
    })
    return asked
  }

  async #look(): Promise<State> {
    try {
      const answers = await settlesWithin(this.#clock, PING_MS, this.#db.ping())
      if (!answers) throw new AppError('unavailable', 'Storage is silent')
      this.#become(this.#isOutdated ? OUTDATED : { ready: true })
    } catch (error) {
      if (this.#state.ready) {
        const { message, cause } = error as AppError
        this.#log.error({ err: cause ?? error }, message)
      }
      this.#become({ ready: false, reason: 'storage does not answer' })
    }
    return this.#state
  }

  async #lookAtSchema(): Promise<void> {
    if (this.#isOutdated) return
    try {
      await settlesWithin(this.#clock, PING_MS, schemaVersion(this.#db))
    } catch (error) {
      // Storage that does not answer is noticed by itself.
      if (this.#isOutdated || !isAppError(error, 'failed_precondition')) return
      this.#isOutdated = true
      this.#asked = undefined
      this.#log.error(
        { problem: error.message },
        'a newer version has changed the database: start this one in that version; until then it does nothing in the background',
      )
      this.#become(OUTDATED)
      this.#onOutdated()
    }
  }

  #become(state: State): void {
    if (this.#stopping && state.ready) return
    const changed = state.ready !== this.#state.ready
    this.#state = state
    if (!changed) return
    if (state.ready) this.#log.info('storage answers again')
    for (const listener of this.#listeners) listener()
  }
}
