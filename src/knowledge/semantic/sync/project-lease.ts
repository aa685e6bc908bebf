import { type Clock, MICROS_PER_MS, type Micros } from '../../../platform/clock/clock.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { Database } from '../../../platform/storage/database.ts'
import { renewProject, type SyncKey } from './store-sync.ts'

/** How long a project is a process's own without a word from it. */
export const LEASE_MS = 60_000
// One renewal may fail before another process takes over.
const RENEW_MS = LEASE_MS / 3

interface LeaseContext {
  db: Database
  clock: Clock
  log: Logger
  owner: string
}

export function leaseEnd(clock: Clock): Micros {
  return clock.now() + LEASE_MS * MICROS_PER_MS
}

/**
 * Work that may take longer than a lease: a long note, or a service that asks for patience. The project stays with this process until it
 * ends. The signal is aborted when another process has the project all the same, or it is gone: what comes of the work is lost.
 */
export async function whileLeased<T>(
  context: LeaseContext,
  key: SyncKey,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const { db, clock, log, owner } = context
  const lost = new AbortController()
  let isOver = false
  let cancel = () => {}
  let renewal: Promise<void> | undefined
  const renew = async () => {
    try {
      const isOurs = await db.write((tx) => renewProject(tx, key, owner, leaseEnd(clock)), {
        isolation: 'read committed',
      })
      if (!isOurs) return lost.abort(new LeaseLost(key.projectId))
    } catch (error) {
      log.warn({ err: error, projectId: key.projectId }, 'the lease of a project could not be renewed')
    }
    renewLater()
  }
  const renewLater = () => {
    if (isOver) return
    cancel = clock.after(RENEW_MS, () => {
      renewal = renew()
    })
  }
  renewLater()
  try {
    return await work(lost.signal)
  } finally {
    isOver = true
    cancel()
    await renewal
  }
}

class LeaseLost extends Error {
  constructor(projectId: number) {
    super(`Another process embeds the notes of project ${projectId}`)
    this.name = 'LeaseLost'
  }
}
