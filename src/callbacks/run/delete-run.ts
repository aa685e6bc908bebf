import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import { runNotFound } from '../wire/error-details.ts'
import type { RunAddress } from '../wire/validate-requests.ts'
import { deleteRun as deleteRows } from './store-delete.ts'
import { findRun } from './store-runs.ts'
import type { EndRunOptions } from './terminate-run.ts'

/**
 * Takes a run away in whatever state it is. One that is running ends with it: its rows are gone in the same commit, so
 * nobody could ever read that it was terminated first, and that is not written.
 */
export async function deleteRun(
  { db, dispatcher, watch }: EndRunOptions,
  namespace: ActiveNamespace,
  { callbackId, runId }: RunAddress,
): Promise<void> {
  await db.write(
    async (tx) => {
      const run = await findRun(tx, namespace.id, callbackId, runId)
      if (run === undefined || !(await deleteRows(tx, run.runNumber))) throw runNotFound(callbackId, runId)
      dispatcher.stopWith(tx, run)
      tx.afterCommit(() => watch.notify(run.runNumber))
    },
    { isolation: 'read committed' },
  )
}
