import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { NamespaceId } from '../namespace/namespace.ts'
import type { NamespacePolicies } from '../namespace/namespace-policies.ts'
import { listNamespaces } from '../namespace/store-namespaces.ts'
import { deleteReplays, deleteStrayReplays } from '../replay/store-replays.ts'
import { removeSomeWaiting, strayWaiting } from '../replay/store-waiting-replays.ts'
import { deleteClosedRuns } from './store-retention.ts'

const EVERY_MS = 3_600_000
const NAMESPACES = 100

export interface RunRetentionDeps {
  db: Database
  clock: Clock
  jobs: JobEngine
  policies: NamespacePolicies
}

/** Removes closed runs past the retention of their namespace, once an hour by one of the processes. */
export function scheduleRunRetention(deps: RunRetentionDeps): void {
  deps.jobs.recurring({
    name: 'callbacks.retention',
    everyMs: EVERY_MS,
    async run({ signal, log }) {
      const removed = await purgeRuns(deps, signal)
      if (removed > 0) log.info({ removed }, 'closed callbacks past their retention were removed')
    },
  })
}

/** How many runs were removed. */
export async function purgeRuns(
  { db, clock, policies }: Omit<RunRetentionDeps, 'jobs'>,
  signal?: AbortSignal,
): Promise<number> {
  const write = <T>(work: (tx: Transaction) => Promise<T>) => {
    signal?.throwIfAborted()
    return db.write(work, { alone: true, isolation: 'read committed' })
  }
  // Many short transactions instead of one long one: whoever writes meanwhile waits for at most one chunk.
  const inChunks = async (remove: (tx: Transaction) => Promise<number>): Promise<number> => {
    let total = 0
    for (let removed = 1; removed > 0; total += removed) removed = await write(remove)
    return total
  }
  let total = 0
  let after: NamespaceId | null = null
  for (;;) {
    const namespaces = await listNamespaces(db, { after, limit: NAMESPACES })
    for (const namespace of namespaces) {
      const before = clock.now() - policies.policyOf(namespace).retention * MICROS_PER_MS
      total += await inChunks((tx) => deleteClosedRuns(tx, namespace.id, before))
      await inChunks((tx) => deleteReplays(tx, namespace.id, before))
    }
    after = namespaces.at(-1)?.id ?? null
    if (namespaces.length < NAMESPACES || after === null) break
  }
  await inChunks(deleteStrayReplays)
  for (const replayId of await strayWaiting(db)) {
    let isLast = false
    while (!isLast) ({ isLast } = await write((tx) => removeSomeWaiting(tx, replayId)))
  }
  return total
}
