import { recordAudit, SYSTEM_ACTOR } from '../../platform/audit/record.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import { type Clock, MICROS_PER_SECOND } from '../../platform/clock/clock.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import { jobKind } from '../../platform/jobs/job-kind.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { Dispatcher } from '../deliver/dispatcher.ts'
import { deleteRunNumbers } from '../run/store-delete.ts'
import { deleteClosedRuns } from '../run/store-retention.ts'
import type { NamespaceId } from './namespace.ts'
import { findRunning, hasRunning, removeDestinations } from './store-namespace-runs.ts'
import { deleteNamespaceRow, findNamespaceRowById, toNamespace } from './store-namespaces.ts'

export interface NamespacePurge {
  namespaceId: NamespaceId
  organizationId: OrganizationId
}

/** Takes away what a deleted namespace held. Every batch is found anew, so it goes on wherever a crash left it. */
export const PURGE_NAMESPACE = jobKind<NamespacePurge>('callbacks.purge-namespace', {
  concurrency: 1,
  maxAttempts: 100,
})

/** Longer than any process remembers a namespace. */
export const PURGE_AFTER_MICROS = 60 * MICROS_PER_SECOND
const LOOK_AGAIN_MICROS = 60 * MICROS_PER_SECOND
const DESTINATIONS = 1_000
const RUNNING = 100

export interface NamespacePurgeDeps {
  db: Database
  clock: Clock
  jobs: JobEngine
  dispatcher: Dispatcher
}

/** To be called once, before the engine starts. */
export function registerNamespacePurge({ db, clock, jobs, dispatcher }: NamespacePurgeDeps): void {
  /** Nothing runs in a namespace that is deleted, unless another version of the server let a start pass: nobody could end it. */
  async function deleteRunning(tx: Transaction, namespaceId: NamespaceId): Promise<number> {
    const runs = await findRunning(tx, namespaceId, RUNNING)
    await deleteRunNumbers(
      tx,
      runs.map(({ runNumber }) => runNumber),
    )
    for (const run of runs) dispatcher.stopWith(tx, run)
    return runs.length
  }

  jobs.register(PURGE_NAMESPACE, async ({ payload }, { signal, log, complete }) => {
    const { namespaceId } = payload
    const inSteps = async (remove: (tx: Transaction) => Promise<number>) => {
      let [removed, total] = [0, 0]
      do {
        signal.throwIfAborted()
        removed = await db.write(remove, { alone: true })
        total += removed
      } while (removed > 0)
      return total
    }
    await inSteps((tx) => deleteClosedRuns(tx, namespaceId))
    const ended = await inSteps((tx) => deleteRunning(tx, namespaceId))
    if (ended > 0) log.warn({ namespaceId, ended }, 'callbacks were running in a deleted namespace and were ended')
    await inSteps((tx) => removeDestinations(tx, namespaceId, DESTINATIONS))
    return db.write(async (tx) => {
      // As above: one may have begun since.
      const isEmpty = (await deleteClosedRuns(tx, namespaceId)) === 0 && !(await hasRunning(tx, namespaceId))
      if (!isEmpty) return { againAt: clock.now() + LOOK_AGAIN_MICROS }
      const row = await findNamespaceRowById(tx, namespaceId)
      if (row === undefined) return undefined
      await deleteNamespaceRow(tx, namespaceId)
      await recordAudit(tx, {
        organizationId: payload.organizationId,
        action: 'namespace.purged',
        actor: SYSTEM_ACTOR,
        target: { type: 'namespaces', id: namespaceId },
        changes: { name: { old: toNamespace(row).name } },
      })
      await complete(tx)
      return undefined
    })
  })
}
