import { type Clock, settlesWithin, sleep } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { Logger } from '../logging/logger.ts'
import { OutageLog } from '../logging/outage-log.ts'

/**
 * Work that goes on as long as the server does. `run` returns when its signal aborts, having finished what it must.
 * The reason of the abort is a WorkerStop: it says how much time is left for that.
 */
export interface Worker {
  readonly name: string
  run(signal: AbortSignal): Promise<void>
}

/** Why a worker's signal was aborted. */
export class WorkerStop extends Error {
  override name = 'WorkerStop'
  /** After this time the supervisor no longer waits. */
  readonly graceMs: number

  constructor(graceMs: number) {
    super('The server stops')
    this.graceMs = graceMs
  }
}

export interface WorkerHealth {
  name: string
  /** `finished`: it returned by itself and is not started again. `stuck`: it did not return when the server stopped. */
  state: 'running' | 'restarting' | 'finished' | 'stopped' | 'stuck'
  healthy: boolean
  restarts: number
  lastError: string | null
}

export interface SupervisorOptions {
  clock: Clock
  log: Logger
  firstRestartMs?: number
  longestRestartMs?: number
}

// A worker that ran this long before it failed starts anew with the shortest delay, and its trouble counts as over.
const STABLE_AFTER_MS = 60_000

interface Supervised {
  worker: Worker
  health: WorkerHealth
  done: Promise<void>
}

/**
 * Keeps workers running. One that throws is started again after a delay that doubles from `firstRestartMs` to
 * `longestRestartMs`; the others and the server do not notice. One that returns by itself has finished.
 *
 * `stop` resolves, and never rejects, as soon as every worker has returned, and at the latest after its time: then
 * the workers that did not return are named in the log and left behind.
 */
export class Supervisor {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #firstRestartMs: number
  readonly #longestRestartMs: number
  readonly #stopping = new AbortController()
  readonly #supervised: Supervised[] = []

  constructor({ clock, log, firstRestartMs = 500, longestRestartMs = 30_000 }: SupervisorOptions) {
    this.#clock = clock
    this.#log = log
    this.#firstRestartMs = firstRestartMs
    this.#longestRestartMs = longestRestartMs
  }

  start(workers: readonly Worker[]): void {
    for (const worker of workers) {
      const { name } = worker
      const health: WorkerHealth = { name, state: 'running', healthy: true, restarts: 0, lastError: null }
      this.#supervised.push({ worker, health, done: this.#keepRunning(worker, health) })
    }
  }

  health(): WorkerHealth[] {
    return this.#supervised.map(({ health }) => ({ ...health }))
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort(new WorkerStop(graceMs))
    await settlesWithin(this.#clock, graceMs, Promise.all(this.#supervised.map(({ done }) => done)))
    for (const { health } of this.#supervised) {
      if (health.state !== 'running' && health.state !== 'restarting') continue
      Object.assign(health, { state: 'stuck', healthy: false })
      this.#log.warn({ worker: health.name }, `a worker did not stop within ${graceMs} ms`)
    }
  }

  /** NOTE Nothing may throw out of here: an unhandled rejection would end the server. */
  async #keepRunning(worker: Worker, health: WorkerHealth): Promise<void> {
    const { signal } = this.#stopping
    const outage = new OutageLog(this.#log)
    for (let failures = 0; !signal.aborted; ) {
      const startedMs = this.#clock.elapsedMs()
      const cancel = this.#clock.after(STABLE_AFTER_MS, () => outage.over(`the worker "${worker.name}" goes on`))
      try {
        // Also a run that throws before its first await must not reach the caller of `start`.
        await Promise.resolve()
          .then(() => worker.run(signal))
          .finally(cancel)
        Object.assign(health, { state: signal.aborted ? 'stopped' : 'finished', healthy: true })
        return
      } catch (error) {
        // What is thrown after the abort is mostly the abort itself, passed on by whatever was waiting.
        if (signal.aborted) break
        failures = this.#clock.elapsedMs() - startedMs > STABLE_AFTER_MS ? 1 : failures + 1
        const delayMs = Math.min(this.#longestRestartMs, this.#firstRestartMs * 2 ** Math.min(failures - 1, 30))
        const lastError = error instanceof Error ? error.message : String(error)
        Object.assign(health, { state: 'restarting', healthy: false, lastError, restarts: health.restarts + 1 })
        const message = `a worker failed; it starts again in ${delayMs} ms`
        // Storage that is away, or a full disk, is met by every try until somebody has mended it.
        const isOutage = error instanceof AppError && error.code === 'unavailable'
        if (isOutage) outage.tell({ err: error, worker: worker.name }, message)
        else this.#log.error({ err: error, worker: worker.name }, message)
        await sleep(this.#clock, delayMs, signal).catch(() => {})
        if (!signal.aborted) Object.assign(health, { state: 'running', healthy: true })
      }
    }
    health.state = 'stopped'
  }
}
