import { type Clock, MICROS_PER_MS, type Micros } from '../clock/clock.ts'
import type { JobEngine } from '../jobs/job-engine.ts'
import type { Database } from '../storage/database.ts'
import { deleteAuditEvents, organizationsWithEvents } from './store.ts'

const EVERY_MS = 3_600_000
const BATCH = 500

/** Removes events older than the retention, once an hour by one of the processes. */
export function scheduleAuditRetention(
  jobs: JobEngine,
  { db, clock, retentionMs }: { db: Database; clock: Clock; retentionMs: number },
): void {
  jobs.recurring({
    name: 'audit.retention',
    everyMs: EVERY_MS,
    async run({ signal, log }) {
      const removed = await purgeAudit(db, clock.now() - retentionMs * MICROS_PER_MS, signal)
      if (removed > 0) log.info({ removed }, 'audit events past their retention were removed')
    },
  })
}

/** Many short transactions instead of one long one: whoever writes meanwhile waits for at most one batch. */
export async function purgeAudit(db: Database, before: Micros, signal?: AbortSignal): Promise<number> {
  let total = 0
  for (const organizationId of await organizationsWithEvents(db)) {
    for (let removed = BATCH; removed === BATCH; total += removed) {
      signal?.throwIfAborted()
      removed = await deleteAuditEvents(db, organizationId, before, BATCH)
    }
  }
  return total
}
