import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NamespaceId } from '../../src/callbacks/namespace/namespace.ts'
import {
  PURGE_AFTER_MICROS,
  PURGE_NAMESPACE,
  registerNamespacePurge,
} from '../../src/callbacks/namespace/purge-namespace.ts'
import { retireNamespace } from '../../src/callbacks/namespace/store-namespaces.ts'
import { MICROS_PER_MS } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { jobBench } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'
import { socketClosed, startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { namespaceWorld } from './namespace-world.ts'

// The clock goes on a little with every question.
const PURGE_AFTER_MS = PURGE_AFTER_MICROS / MICROS_PER_MS + 1_000
const RUNNING = Number.MAX_SAFE_INTEGER
const TABLES = [
  'callback_runs',
  'callback_inputs',
  'callback_failures',
  'callback_attempts',
  'callback_attributes',
] as const

/** Runs with everything that there is of runs. */
async function addRuns(db: Database, namespaceId: NamespaceId, count: number, closedAt: number | null): Promise<void> {
  const runs = Array.from({ length: count }, (_, n) => ({
    namespace_id: namespaceId,
    callback_id: `callback-${n}`,
    run_id: newId(),
    request_id: 'r',
    destination_id: 1,
    status: closedAt === null ? 1 : 2,
    state: closedAt === null ? 2 : 4,
    attempt: 1,
    transition_count: 1,
    created_at: 1,
    closed_at: closedAt,
    sort_at: closedAt ?? RUNNING,
  }))
  await db.write(async (tx) => {
    const numbers = await tx.query
      .insertInto('callback_runs')
      .values(runs as never)
      .returning('run_number')
      .execute()
    const bytes = Buffer.from('x')
    const attempt = {
      attempt: 1,
      started_at: 1,
      ended_at: 2,
      outcome: 'success',
      error_type: '',
      message: '',
      response_snippet: '',
    }
    for (const { run_number } of numbers) {
      await tx.query
        .insertInto('callback_inputs')
        .values({ run_number, callback: bytes, completion: bytes } as never)
        .execute()
      await tx.query
        .insertInto('callback_failures')
        .values({ run_number } as never)
        .execute()
      await tx.query
        .insertInto('callback_attempts')
        .values({ run_number, ...attempt } as never)
        .execute()
      const attribute = { run_number, name: 'X', place: 0, type: 'Int', number_value: 1 }
      await tx.query
        .insertInto('callback_attributes')
        .values(attribute as never)
        .execute()
    }
    const destination = { namespace_id: namespaceId, destination: `https://${newId()}.example.org` }
    await tx.query
      .insertInto('callback_destinations')
      .values(destination as never)
      .execute()
  })
}

async function closeRuns(db: Database, namespaceId: NamespaceId): Promise<void> {
  const closed = { closed_at: 5, sort_at: 5, state: 4, status: 2 }
  await db.write((tx) =>
    tx.query.updateTable('callback_runs').set(closed).where('namespace_id', '=', namespaceId).execute(),
  )
}

async function rowsLeft(db: Database): Promise<number[]> {
  const counts: number[] = []
  for (const table of [...TABLES, 'callback_destinations'] as const) {
    const { n } = await db.query
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    counts.push(Number(n))
  }
  return counts
}

function idsOf(db: Database) {
  return db.query.selectFrom('namespaces').select('id').execute()
}

eachDatabase('deletion of a namespace', ({ open }) => {
  async function world() {
    const made = await namespaceWorld(await open())
    const bench = jobBench(made.db, { clock: made.clock })
    const { runtime } = await DeliveryWorld.over(made)
    registerNamespacePurge({ ...made, jobs: bench.engine, dispatcher: runtime.dispatcher })
    const { namespace } = await made.namespaces.create(made.operator, { name: 'doomed' })
    return { ...made, bench, id: namespace.id }
  }

  test('is refused while something runs in it', async () => {
    const { db, operator, namespaces, id } = await world()
    await addRuns(db, id, 1, null)
    await assert.rejects(namespaces.delete(operator, { name: 'doomed' }), { code: 'failed_precondition' })
    await namespaces.get(operator, { name: 'doomed' })
    await closeRuns(db, id)
    await namespaces.delete(operator, { name: 'doomed' })
    await assert.rejects(namespaces.get(operator, { name: 'doomed' }), { code: 'not_found' })
    await assert.rejects(namespaces.delete(operator, { name: 'doomed' }), { code: 'not_found' })
  })

  test('leaves nothing of it in the end, and everything of the others', async () => {
    const { db, clock, operator, namespaces, bench, id } = await world()
    const { namespace: other } = await namespaces.create(operator, { name: 'other' })
    await addRuns(db, other.id, 3, 4)
    await addRuns(db, id, 450, 4)
    await namespaces.delete(operator, { name: 'doomed' })
    await bench.turn()
    assert.equal((await rowsLeft(db))[0], 453)
    await clock.advance(PURGE_AFTER_MS)
    await bench.turn()
    assert.deepEqual(await rowsLeft(db), [3, 3, 3, 3, 3, 1])
    assert.ok((await idsOf(db)).every((row) => row.id !== id))
    assert.deepEqual(await bench.rows(), [])
    const event = db.query.selectFrom('audit_events').selectAll().where('action', '=', 'namespace.purged')
    const { target_id, actor_kind, changes } = await event.executeTakeFirstOrThrow()
    assert.deepEqual([target_id, actor_kind, JSON.parse(changes)], [id, 'system', { name: { old: 'doomed' } }])
  })

  test('ends what runs in it all the same, which a version that let starts pass has left there', async () => {
    const { db, clock, operator, namespaces, bench, id } = await world()
    const { namespace: other } = await namespaces.create(operator, { name: 'other' })
    await addRuns(db, other.id, 2, null)
    await namespaces.delete(operator, { name: 'doomed' })
    await addRuns(db, id, 250, null)
    await clock.advance(PURGE_AFTER_MS)
    await bench.turn()
    assert.deepEqual(await rowsLeft(db), [2, 2, 2, 2, 2, 1])
    assert.deepEqual(await bench.rows(), [])
    assert.equal((await idsOf(db)).length, 2)
  })

  test('breaks off the request of a run that was left there', async () => {
    await using receiver = await startReceiver({ answer: null })
    await using world = await DeliveryWorld.open(await open())
    const { db, namespace: made } = world
    const bench = jobBench(db, { clock: made.clock })
    registerNamespacePurge({ ...made, jobs: bench.engine, dispatcher: world.runtime.dispatcher })
    const { namespace } = await made.namespaces.create(made.operator, { name: 'doomed' })
    world.run()
    await world.start('c', receiver.url, { namespace: (await made.policies.find('doomed')) ?? undefined })
    await receiver.requests.next()
    const payload = { namespaceId: namespace.id, organizationId: made.operator.organizationId }
    await db.write(async (tx) => {
      await retireNamespace(tx, namespace, made.clock.now())
      await bench.engine.enqueue(tx, { kind: PURGE_NAMESPACE, key: namespace.id, payload })
    })
    await bench.turn()
    await Promise.all([...receiver.open].map(socketClosed))
    assert.deepEqual(await rowsLeft(db), [0, 0, 0, 0, 0, 0])
  })

  test('does not touch a namespace that took over the name', async () => {
    const { db, clock, operator, namespaces, bench } = await world()
    await namespaces.delete(operator, { name: 'doomed' })
    const { namespace } = await namespaces.create(operator, { name: 'doomed' })
    await addRuns(db, namespace.id, 2, 4)
    await clock.advance(PURGE_AFTER_MS)
    await bench.turn()
    assert.deepEqual(await rowsLeft(db), [2, 2, 2, 2, 2, 1])
    assert.equal((await namespaces.get(operator, { name: 'doomed' })).namespace.id, namespace.id)
  })
})
