import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { TOMBSTONES_KEPT_MS, TOMBSTONES_SPARE_MS } from './changes-feed.ts'
import { deleteTombstones } from './store-changes.ts'
import { deleteRevisions } from './store-revisions.ts'
import { takeExpiredTrash } from './store-trash.ts'

const EVERY_MS = 3_600_000
const TRASH_KEPT_MS = 30 * 86_400_000
const BATCH = 100
// Only one of a purge and a restore can take a note out of the trash; the other one finds it gone.
const TAKING = { isolation: 'read committed' } as const

/** Forgets deleted notes in time. To be called once, before the engine starts. */
export function historyJobs({ db, clock, jobs }: Pick<KnowledgeDeps, 'db' | 'clock' | 'jobs'>): void {
  jobs.recurring({
    name: 'knowledge.history',
    everyMs: EVERY_MS,
    async run({ signal, log }) {
      const removed = await purgeHistory(db, clock, signal)
      if (removed > 0) log.info({ removed }, 'notes past their time in the trash were removed')
    },
  })
}

/** How many notes left the trash. Many short transactions: whoever writes meanwhile waits for at most one of them. */
export async function purgeHistory(db: Database, clock: Clock, signal?: AbortSignal): Promise<number> {
  const trashBefore = clock.now() - TRASH_KEPT_MS * MICROS_PER_MS
  const total = await inBatches(() => db.write((tx) => purgeTrash(tx, trashBefore), TAKING), signal)
  const tombstonesBefore = clock.now() - (TOMBSTONES_KEPT_MS + TOMBSTONES_SPARE_MS) * MICROS_PER_MS
  await inBatches(() => db.write((tx) => deleteTombstones(tx, tombstonesBefore, BATCH)), signal)
  return total
}

/** Out of the trash first: a note that is being restored is there no longer, and keeps its versions. */
async function purgeTrash(tx: Transaction, before: Micros): Promise<number> {
  const noteIds = await takeExpiredTrash(tx, before, BATCH)
  await deleteRevisions(tx, noteIds)
  return noteIds.length
}

async function inBatches(work: () => Promise<number>, signal: AbortSignal | undefined): Promise<number> {
  let total = 0
  for (;;) {
    signal?.throwIfAborted()
    const done = await work()
    if (done === 0) return total
    total += done
  }
}
