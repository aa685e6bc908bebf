import { MICROS_PER_MS } from '../../src/platform/clock/clock.ts'
import type { JobRequest } from '../../src/platform/jobs/enqueue.ts'
import { JobEngine, type JobEngineOptions } from '../../src/platform/jobs/job-engine.ts'
import type { Job, JobContext, JobHandler, JobKind } from '../../src/platform/jobs/job-kind.ts'
import type { JobRow } from '../../src/platform/jobs/store.ts'
import { listJobs } from '../../src/platform/jobs/store-dead-letters.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'

/** A run that a test decides about. */
export interface OpenRun<Payload = unknown> {
  job: Job<Payload>
  context: JobContext<Payload>
  finish(): void
  fail(error: unknown): void
}

/** A handler whose runs stay open until the test ends them; `next` waits for one to begin. */
export class Steered<Payload = unknown> {
  readonly open: OpenRun<Payload>[] = []
  readonly #waiting: ((run: OpenRun<Payload>) => void)[] = []
  readonly #begun: OpenRun<Payload>[] = []

  readonly handler: JobHandler<Payload> = (job, context) =>
    new Promise((resolve, reject) => {
      const run = { job, context, finish: () => resolve(), fail: reject }
      this.open.push(run)
      const waiter = this.#waiting.shift()
      if (waiter === undefined) this.#begun.push(run)
      else waiter(run)
    })

  next(): Promise<OpenRun<Payload>> {
    const run = this.#begun.shift()
    return run === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(run)
  }

  get begun(): number {
    return this.#begun.length
  }
}

/** An engine on a clock that stands still, worked by `tick`. */
export function jobBench(db: Database, options: Partial<JobEngineOptions> & { clock?: FakeClock } = {}) {
  const clock = options.clock ?? new FakeClock()
  const engine = new JobEngine({ db, log: silentLogger(), leaseMs: 30_000, ...options, clock })
  return {
    clock,
    engine,
    add: <P>(request: JobRequest<P>) => db.write((tx) => engine.enqueue(tx, request)),
    rows: (): Promise<JobRow[]> => listJobs(db, { limit: 1_000 }),
    /** Starts what is due and waits until it is settled. */
    async turn() {
      await engine.tick()
      await engine.whenIdle()
    },
    later: (ms: number) => clock.now() + ms * MICROS_PER_MS,
  }
}

export function recording<P>(kind: JobKind<P>, engine: JobEngine): Job<P>[] {
  const seen: Job<P>[] = []
  engine.register(kind, async (job) => {
    seen.push(job)
  })
  return seen
}
