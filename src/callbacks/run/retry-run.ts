import { AppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import { applyEvent } from '../state/apply-event.ts'
import { runNotFound } from '../wire/error-details.ts'
import type { RunAddress } from '../wire/validate-requests.ts'
import type { StoredRun } from './run.ts'
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
  let lost: StoredRun | null = null
  do {
    // Somebody changed the run between reading and writing, or took it: what they made of it is looked at anew.
    lost = await options.db.write((tx) => tryOnce(tx, options, namespace, address, lost), {
      isolation: 'read committed',
    })
  } while (lost !== null)
}

/** The run as it was read when somebody else came first. `lost`: the same the last time. */
async function tryOnce(
  tx: Transaction,
  { clock, dispatcher, watch }: RetryRunOptions,
  namespace: ActiveNamespace,
  { callbackId, runId }: RunAddress,
  lost: StoredRun | null,
): Promise<StoredRun | null> {
  const run = await findRun(tx, namespace.id, callbackId, runId)
  if (run === undefined) throw runNotFound(callbackId, runId)
  const now = clock.now()
  const step = applyEvent(run.record, { kind: 'retry_now' }, { now, retry: namespace.retryPolicy, chance: 0 })
  if (step.kind === 'refused') throw new AppError('failed_precondition', step.message)
  // One that nobody changed was taken: by the clock of another process its time has come.
  const isTaken = run.runNumber === lost?.runNumber && run.record.transitionCount === lost.record.transitionCount
  if (step.kind === 'unchanged' || isTaken) {
    // Its attempt is waiting or in flight.
    tx.afterCommit(() => dispatcher.tryNow(run))
    return null
  }
  // A first attempt that was put off may begin at this moment: it must not be made twice.
  if (!(await storeTransition(tx, run, step, { dueAt: now, unleasedAt: now }))) return run
  tx.afterCommit(() => {
    watch.notify(run.runNumber)
    dispatcher.tryNow({ ...run, record: step.record })
  })
  return null
}
