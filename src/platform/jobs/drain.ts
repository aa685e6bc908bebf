import type { Clock } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import { ShuttingDown } from './failures.ts'
import type { JobRun } from './job-run.ts'
import type { Settler } from './settler.ts'

export interface DrainOptions {
  clock: Clock
  log: Logger
  drainMs: number
  runs: ReadonlySet<JobRun>
  settler: Settler
  /** Resolves when no job runs any more. */
  idle(): Promise<void>
}

// Of the time for draining: 80 % to finish, 10 % to react to the abort, 10 % to write down that the rest was given back.
const ABORT_AT = 0.8
const RELEASE_AT = 0.9

/** Never rejects, and resolves within `drainMs`. */
export async function drain({ clock, log, drainMs, runs, settler, idle }: DrainOptions): Promise<void> {
  const startedMs = clock.elapsedMs()
  /** Waits for `done`, at most until that share of the time is over. */
  const within = (share: number, done: Promise<unknown>): Promise<boolean> =>
    new Promise((resolve) => {
      const left = Math.max(0, drainMs * share - (clock.elapsedMs() - startedMs))
      const cancel = clock.after(left, () => resolve(false))
      void done.then(() => {
        cancel()
        resolve(true)
      })
    })
  if (await within(ABORT_AT, idle())) return
  log.info({ jobs: runs.size }, 'asking running jobs to stop')
  for (const run of runs) run.abort(new ShuttingDown())
  if (await within(RELEASE_AT, idle())) return
  // From here on the fence has moved: a handler that goes on regardless can no longer settle its job.
  log.warn({ jobs: runs.size }, 'giving back jobs that do not stop')
  const given = [...runs].map((run) => settler.settle(run.row, run.kind.join, { kind: 'released' }))
  await within(1, Promise.all(given))
  settler.abandon()
}
