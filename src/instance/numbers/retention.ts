import type { Clock } from '../../platform/clock/clock.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import type { Database } from '../../platform/storage/database.ts'
import { dropTalliesBefore } from '../../platform/tally/store.ts'
import { deleteLogInsBefore } from './store-log-ins.ts'
import { DAYS_PER_WEEK, type Day, dateOf, dayOf } from './weeks.ts'

const KEPT_DAYS = 26 * DAYS_PER_WEEK
const EVERY_MS = 6 * 3_600_000
const BATCH = 500
/** Counts of a day, as users and notes keep them. */
const DAILY_TALLIES = ['notes.created:', 'users.created:']

/** Removes what is older than any number that is shown, a few times a day by one of the processes. */
export function scheduleNumbersRetention({ db, clock, jobs }: { db: Database; clock: Clock; jobs: JobEngine }): void {
  jobs.recurring({
    name: 'instance.numbers-retention',
    everyMs: EVERY_MS,
    run: ({ signal }) => purgeNumbers(db, dayOf(clock.now()) - KEPT_DAYS, signal),
  })
}

/** What is before that day. Many short transactions: whoever writes meanwhile waits for one of them at most. */
export async function purgeNumbers(db: Database, day: Day, signal?: AbortSignal): Promise<void> {
  for (let removed = BATCH; removed === BATCH; ) {
    signal?.throwIfAborted()
    removed = await db.write((tx) => deleteLogInsBefore(tx, day, BATCH))
  }
  await db.write(async (tx) => {
    for (const prefix of DAILY_TALLIES) await dropTalliesBefore(tx, prefix, dateOf(day))
  })
}
