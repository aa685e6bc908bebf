import { AppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import { applyEvent } from '../state/apply-event.ts'
import { runNotFound } from '../wire/error-details.ts'
import type { RunAddress } from '../wire/validate-requests.ts'
import { findRun } from './store-runs.ts'
import { storeTransition } from './store-transition.ts'
import type { EndRunOptions } from './terminate-run.ts'

export type RetryRunOptions = EndRunOptions

/** Attempts a run now instead of later; a destination that is left alone gets one trial. */
export async function retryRun(
  options: RetryRunOptions,
  namespace: ActiveNamespace,
  address: RunAddress,
): Promise<void> {
  for (;;) {
    const isDone = await options.db.write((tx) => tryOnce(tx, options, namespace, address), {
      isolation: 'read committed',
    })
    // Otherwise somebody changed the run between reading and writing: what they made of it is looked at anew.
    if (isDone) return
  }
}

/** False when another change of the run came first. */
async function tryOnce(
  tx: Transaction,
  { clock, dispatcher, watch }: RetryRunOptions,
  namespace: ActiveNamespace,
  { callbackId, runId }: RunAddress,
): Promise<boolean> {
  const run = await findRun(tx, namespace.id, callbackId, runId)
  if (run === undefined) throw runNotFound(callbackId, runId)
  const now = clock.now()
  const step = applyEvent(run.record, { kind: 'retry_now' }, { now, retry: namespace.retryPolicy, chance: 0 })
  if (step.kind === 'refused') throw new AppError('failed_precondition', step.message)
  if (step.kind === 'unchanged') {
    // Its attempt is waiting or in flight.
    tx.afterCommit(() => dispatcher.tryNow(run))
    return true
  }
  if (!(await storeTransition(tx, run, step, now))) return false
  tx.afterCommit(() => {
    watch.notify(run.runNumber)
    dispatcher.tryNow({ ...run, record: step.record })
  })
  return true
}
