import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { Dispatcher } from '../deliver/dispatcher.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import { applyEvent } from '../state/apply-event.ts'
import { runNotFound } from '../wire/error-details.ts'
import type { ValidTerminate } from '../wire/validate-requests.ts'
import type { RunWatch } from './run-watch.ts'
import { findRun } from './store-runs.ts'
import { storeTransition } from './store-transition.ts'

export interface EndRunOptions {
  db: Database
  clock: Clock
  dispatcher: Dispatcher
  watch: RunWatch
}

/** T6. A repeat of the request that terminated the run changes nothing. */
export async function terminateRun(
  options: EndRunOptions,
  namespace: ActiveNamespace,
  terminate: ValidTerminate,
): Promise<void> {
  const requestId = terminate.requestId === '' ? newId() : terminate.requestId
  const wish = { ...terminate, requestId }
  for (;;) {
    const isDone = await options.db.write((tx) => tryOnce(tx, options, namespace, wish), {
      isolation: 'read committed',
    })
    // Otherwise somebody changed the run between reading and writing: what they made of it is looked at anew.
    if (isDone) return
  }
}

/** False when another change of the run came first. */
async function tryOnce(
  tx: Transaction,
  { clock, dispatcher, watch }: EndRunOptions,
  namespace: ActiveNamespace,
  { callbackId, runId, requestId, identity, reason }: ValidTerminate,
): Promise<boolean> {
  const run = await findRun(tx, namespace.id, callbackId, runId)
  if (run === undefined) throw runNotFound(callbackId, runId)
  const event = { kind: 'terminate', requestId, identity, reason } as const
  const step = applyEvent(run.record, event, { now: clock.now(), retry: namespace.retryPolicy, chance: 0 })
  if (step.kind === 'refused') throw new AppError('failed_precondition', step.message)
  if (step.kind === 'unchanged') return true
  if (!(await storeTransition(tx, run, step, { dueAt: null }))) return false
  dispatcher.stopWith(tx, run)
  tx.afterCommit(() => watch.notify(run.runNumber))
  return true
}
