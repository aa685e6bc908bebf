import assert from 'node:assert/strict'
import { destinationId } from '../../src/callbacks/destination/store-destinations.ts'
import { newNamespace } from '../../src/callbacks/namespace/ensure-namespaces.ts'
import { findNamespaceRowById, insertNamespace } from '../../src/callbacks/namespace/store-namespaces.ts'
import type { AttemptRecord, RunStart, Settlement, StartAnswer, StoredRun } from '../../src/callbacks/run/run.ts'
import { dueAtOf } from '../../src/callbacks/run/run.ts'
import { type FoundRun, findRun } from '../../src/callbacks/run/store-runs.ts'
import { insertRun } from '../../src/callbacks/run/store-start.ts'
import { storeTransitions } from '../../src/callbacks/run/store-transition.ts'
import { applyEvent } from '../../src/callbacks/state/apply-event.ts'
import type { RunEvent } from '../../src/callbacks/state/run-event.ts'
import { type NewRun, startRun } from '../../src/callbacks/state/run-record.ts'
import type { Micros } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database, Transaction, WriteOptions } from '../../src/platform/storage/database.ts'

export const NAMESPACE = newId<'Namespace'>()
export const SHARED: WriteOptions = { isolation: 'read committed' }
const DESTINATION = 'https://hooks.example.org'
const RETRY = { initialMicros: 10, maximumMicros: 1_000, coefficient: 2, jitter: 0, maximumAttempts: 1_000 }

export const RETRYABLE = { kind: 'attempt_failed', isRetryable: true, message: 'try later' } as const
export const FATAL = { kind: 'attempt_failed', isRetryable: false, message: 'no' } as const
export const TERMINATE = { kind: 'terminate', requestId: 'stop', identity: 'ada', reason: 'enough' } as const

export type StartWish = Partial<Omit<RunStart, 'record' | 'timeoutMicros'>> &
  Partial<NewRun> & { at?: Micros; destination?: string }

const withNamespaces = new WeakMap<Database, Set<string>>()

/** Nothing is started in a namespace that is not there. */
export async function addNamespace(db: Database, id = NAMESPACE): Promise<void> {
  const known = withNamespaces.get(db) ?? new Set()
  withNamespaces.set(db, known)
  if (known.has(id)) return
  known.add(id)
  if ((await findNamespaceRowById(db, id)) !== undefined) return
  await db.write((tx) => insertNamespace(tx, { ...newNamespace(`ns-${id}`, {}, 1), id }))
}

/** A start with what the test does not care about filled in. The first attempt is due at once unless it is put off. */
export async function startIn(tx: Transaction, wish: StartWish = {}): Promise<StartAnswer> {
  const {
    at = 1_000,
    destination = DESTINATION,
    timeoutMicros = null,
    startDelayMicros = 0,
    retryPolicy = null,
    ...given
  } = wish
  const namespaceId = given.namespaceId ?? NAMESPACE
  const record = startRun({ timeoutMicros, startDelayMicros, retryPolicy }, at)
  const answer = await insertRun(tx, {
    namespaceId,
    callbackId: newId(),
    runId: newId(),
    requestId: newId(),
    destinationId: given.destinationId ?? (await destinationId(tx, namespaceId, destination)),
    timeoutMicros,
    record,
    dueAt: dueAtOf(record, at) ?? at,
    callback: Buffer.from('callback'),
    completion: Buffer.from('completion'),
    searchAttributes: null,
    attributes: [],
    ...given,
  })
  assert.ok(answer)
  return answer
}

export async function start(db: Database, wish?: StartWish): Promise<StoredRun> {
  await addNamespace(db, wish?.namespaceId)
  const answer = await db.write((tx) => startIn(tx, wish), SHARED)
  assert.equal(answer.kind, 'started')
  return answer.run
}

export async function startMany(db: Database, wishes: readonly StartWish[]): Promise<StoredRun[]> {
  for (const { namespaceId } of wishes) await addNamespace(db, namespaceId)
  return db.write(async (tx) => {
    const runs: StoredRun[] = []
    for (const wish of wishes) {
      const answer = await startIn(tx, wish)
      assert.equal(answer.kind, 'started')
      runs.push(answer.run)
    }
    return runs
  }, SHARED)
}

type EventWish = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, 'tag'> : never) : never

/** What the event makes of the run; attempts are logged. */
export function settlementOf(run: StoredRun, event: EventWish, at: Micros, also: Partial<Settlement> = {}): Settlement {
  const tagged = { ...event, tag: run.record.attempt } as RunEvent
  const changed = applyEvent(run.record, tagged, { now: at, retry: RETRY, chance: 0 })
  assert.equal(changed.kind, 'changed')
  const attempt = event.kind.startsWith('attempt') ? attemptAt(at, 'message' in event ? event.message : '') : null
  return { run, changed, dueAt: dueAtOf(changed.record, at), leaseOwner: null, attempt, ...also }
}

function attemptAt(at: Micros, message: string): AttemptRecord {
  return {
    startedAt: at - 5,
    endedAt: at,
    outcome: message === '' ? 'success' : 'unknown-error',
    statusCode: message === '' ? 200 : null,
    errorType: '',
    message,
    responseSnippet: 'said',
    address: '203.0.113.7',
  }
}

export function store(db: Database, settlements: readonly Settlement[]): Promise<Set<number>> {
  return db.write((tx) => storeTransitions(tx, settlements), SHARED)
}

/** Applies the events one after the other and answers the run as it is then. */
export async function live(db: Database, run: StoredRun, ...events: [EventWish, Micros][]): Promise<FoundRun> {
  let current = run
  for (const [event, at] of events) {
    const settlement = settlementOf(current, event, at)
    assert.equal((await store(db, [settlement])).size, 1)
    current = { ...current, record: settlement.changed.record }
  }
  return reread(db, run)
}

export async function reread(db: Database, { namespaceId, callbackId, runId }: StoredRun): Promise<FoundRun> {
  const found = await findRun(db, namespaceId, callbackId, runId)
  assert.ok(found)
  return found
}
