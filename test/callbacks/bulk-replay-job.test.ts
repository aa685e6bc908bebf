import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteReplays, type Replay, type ReplayId } from '../../src/callbacks/replay/store-replays.ts'
import { insertWaiting } from '../../src/callbacks/replay/store-waiting-replays.ts'
import { deleteClosedRuns } from '../../src/callbacks/run/store-retention.ts'
import { MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type Receiver, startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld, type StartOptions } from './delivery-world.ts'
import { ReplayWorld } from './replay-world.ts'
import { startMany } from './store-world.ts'

const isClosed = ({ closedAt }: { closedAt: number | null }) => closedAt !== null

/** Refuses everything: what it is sent is closed at once. */
function refusing(): Promise<Receiver> {
  return startReceiver({ answer: { status: 400 } })
}

async function close(world: DeliveryWorld, ids: readonly string[], url: string, options?: StartOptions): Promise<void> {
  for (const id of ids) await world.start(id, url, options)
  for (const id of ids) await world.until(id, isClosed)
}

function named(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `c-${n}`)
}

eachDatabase('the job of a bulk replay', (context) => {
  async function open(db: Database): Promise<{ world: DeliveryWorld; bulk: ReplayWorld } & AsyncDisposable> {
    const world = await DeliveryWorld.open(db)
    world.run()
    const bulk = new ReplayWorld(world)
    const dispose = async () => {
      await bulk[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    }
    return { world, bulk, [Symbol.asyncDispose]: dispose }
  }

  test('goes on where it was, batch by batch, and knows the end also where a batch is full', async () => {
    await using receiver = await refusing()
    await using it = await open(await context.open())
    await close(it.world, named(200), receiver.url)
    const jobId = await it.bulk.start()
    assert.deepEqual(await it.bulk.progress(jobId), { matched: 200, started: 0, failed: 0, done: false })
    await it.bulk.step()
    assert.deepEqual(await it.bulk.progress(jobId), { matched: 200, started: 100, failed: 0, done: false })
    assert.deepEqual(await it.bulk.finish(jobId), { matched: 200, started: 200, failed: 0, done: true })
  })

  test('takes fewer at a time where they are large', async () => {
    await using receiver = await refusing()
    await using it = await open(await context.open())
    await close(it.world, named(7), receiver.url, { data: JSON.stringify('x'.repeat(2_000_000)) })
    const jobId = await it.bulk.start()
    await it.bulk.step()
    const { started, done } = await it.bulk.progress(jobId)
    assert.ok((started ?? 0) > 0 && (started ?? 0) < 7 && done === false)
    assert.equal((await it.bulk.finish(jobId)).started, 7)
  })

  test('takes fewer at a time also where only their attributes are large', async () => {
    await using receiver = await refusing()
    await using it = await open(await context.open())
    await close(it.world, named(7), receiver.url)
    const search_attributes = Buffer.alloc(2_000_000)
    await it.world.db.write((tx) => tx.query.updateTable('callback_inputs').set({ search_attributes }).execute())
    const jobId = await it.bulk.start()
    await it.bulk.step()
    assert.equal((await it.bulk.progress(jobId)).started, 5)
  })

  test('reads its query with the attributes that were declared when it was asked for', async () => {
    await using receiver = await refusing()
    await using it = await open(await context.open())
    const { namespaces, operator } = it.world.namespace
    await namespaces.update(operator, { name: 'default', searchAttributes: { Team: 'Keyword' } })
    await close(it.world, ['a'], receiver.url)
    const jobId = await it.bulk.start('Team IS NULL')
    await namespaces.update(operator, { name: 'default', searchAttributes: { Team: null } })
    assert.deepEqual(await it.bulk.finish(jobId), { matched: 1, started: 1, failed: 0, done: true })
  })

  test('starts nothing in a namespace that was deleted', async () => {
    await using receiver = await refusing()
    const db = await context.open()
    await using it = await open(db)
    await close(it.world, ['a'], receiver.url)
    await it.bulk.start()
    const { namespaces, operator } = it.world.namespace
    await namespaces.delete(operator, { name: 'default' })
    await it.bulk.step()
    assert.equal((await it.world.find('a')).requestId.includes(':'), false)
    assert.deepEqual(await replaysOf(db), [{ started: 0, isFinished: true }])
    assert.deepEqual(await it.bulk.jobs.statistics().then((kinds) => kinds.filter(({ kind }) => /bulk/.test(kind))), [])
  })

  test('forgets many that wait in a namespace that was deleted a part at a time', async () => {
    await using receiver = await refusing()
    const db = await context.open()
    await using it = await open(db)
    await close(it.world, ['a'], receiver.url)
    const jobId = await it.bulk.start()
    const waiting = Array.from({ length: 1_050 }, (_, n) => 1_000 + n)
    await db.write((tx) => insertWaiting(tx, jobId as ReplayId, waiting))
    const { namespaces, operator } = it.world.namespace
    await namespaces.delete(operator, { name: 'default' })
    await it.bulk.step()
    assert.deepEqual([(await it.bulk.waiting()).length, (await replaysOf(db))[0]?.isFinished], [50, false])
    await it.bulk.step()
    assert.deepEqual([await it.bulk.waiting(), await replaysOf(db)], [[], [{ started: 0, isFinished: true }]])
  })

  test('counts callbacks that cannot be decrypted as failed, and goes on', async () => {
    await using receiver = await refusing()
    const db = await context.open()
    await using it = await open(db)
    await close(it.world, ['a', 'b', 'c'], receiver.url)
    const { runNumber } = await it.world.find('b')
    await db.write((tx) =>
      tx.query
        .updateTable('callback_inputs')
        .set({ callback: Buffer.from('nonsense') })
        .where('run_number', '=', runNumber)
        .execute(),
    )
    assert.deepEqual(await it.bulk.finish(await it.bulk.start()), { matched: 3, started: 2, failed: 1, done: true })
  })

  test('waits for a callback that is running, starts the others meanwhile, and goes on when it has closed', async () => {
    let status = 400
    await using receiver = await startReceiver({ answer: () => ({ status }) })
    await using it = await open(await context.open())
    await close(it.world, ['busy', 'free'], receiver.url)
    // Retried for as long as it is not told otherwise.
    status = 500
    await it.world.start('busy', receiver.url)
    await it.world.until('busy', ({ attempt }) => attempt > 0)
    // One of the same id elsewhere is none of its business.
    const { namespaces, operator, policies } = it.world.namespace
    await namespaces.create(operator, { name: 'elsewhere' })
    const namespace = (await policies.find('elsewhere')) ?? undefined
    await it.world.start('busy', receiver.url, { namespace, delaySeconds: 1_000_000 })
    const jobId = await it.bulk.start(`ExecutionStatus = 'Failed'`)
    const half = { matched: 2, started: 1, failed: 0, done: false }
    await it.bulk.step()
    assert.deepEqual(await it.bulk.progress(jobId), half)
    await it.bulk.later(1)
    assert.deepEqual(await it.bulk.progress(jobId), half)
    status = 400
    await it.world.passUntil('busy', isClosed)
    // Whoever runs its jobs from then on.
    await it.bulk.jobs.stop()
    await using next = new ReplayWorld(it.world)
    await next.later(60)
    assert.deepEqual(await next.progress(jobId), { matched: 2, started: 2, failed: 0, done: true })
    assert.match((await it.world.find('busy')).requestId, new RegExp(`^${jobId}:`))
    assert.deepEqual(await next.waiting(), [])
  })

  test('comes to all that wait, however many are before them', async () => {
    let status = 400
    await using receiver = await startReceiver({ answer: () => ({ status }) })
    const db = await context.open()
    await using it = await open(db)
    await close(it.world, ['busy'], receiver.url)
    status = 500
    await it.world.start('busy', receiver.url)
    const jobId = await it.bulk.start(`ExecutionStatus = 'Failed'`)
    await it.bulk.step()
    const [waiting] = (await it.bulk.waiting()) as [number]
    // Of runs that are gone: more than are looked at in one step.
    const others = Array.from({ length: 2_500 }, (_, n) => waiting + 1_000 + n)
    await db.write((tx) => insertWaiting(tx, jobId as ReplayId, others))
    status = 400
    await it.world.passUntil('busy', isClosed)
    await it.bulk.later(60)
    assert.deepEqual(await it.bulk.finish(jobId), { matched: 1, started: 1, failed: 0, done: true })
    assert.deepEqual(await it.bulk.waiting(), [])
  })

  test('gives up what waits for a run that does not close, and says so', async () => {
    await using receiver = await refusing()
    await using it = await open(await context.open())
    await close(it.world, ['busy'], receiver.url)
    await it.world.start('busy', receiver.url, { delaySeconds: 1_000_000 })
    const jobId = await it.bulk.start(`ExecutionStatus = 'Failed'`)
    await it.bulk.step()
    await it.bulk.later(3_500)
    await it.bulk.step()
    assert.equal((await it.bulk.progress(jobId)).done, false)
    await it.bulk.later(200)
    assert.deepEqual(await it.bulk.progress(jobId), { matched: 1, started: 0, failed: 1, done: true })
    assert.deepEqual(await it.bulk.waiting(), [])
  })

  test('gives many up a part at a time, so that nobody waits for all of them', async () => {
    await using receiver = await refusing()
    const db = await context.open()
    await using it = await open(db)
    await close(it.world, ['busy'], receiver.url)
    await it.world.start('busy', receiver.url, { delaySeconds: 1_000_000 })
    const { namespaceId } = await it.world.find('busy')
    const jobId = await it.bulk.start(`ExecutionStatus = 'Failed'`)
    await it.bulk.step()
    const far = it.world.namespace.clock.now() + 1_000_000 * MICROS_PER_SECOND
    const running = await startMany(
      db,
      Array.from({ length: 1_050 }, () => ({ namespaceId, at: far })),
    )
    await db.write((tx) =>
      insertWaiting(
        tx,
        jobId as ReplayId,
        running.map(({ runNumber }) => runNumber),
      ),
    )
    await it.bulk.later(4_000)
    while ((await it.bulk.waiting()).length === 1_051) await it.bulk.step()
    const { failed, done } = await it.bulk.progress(jobId)
    assert.deepEqual([failed, done, (await it.bulk.waiting()).length], [1_000, false, 51])
    assert.deepEqual(await it.bulk.finish(jobId), { matched: 1, started: 0, failed: 1_051, done: true })
    assert.deepEqual(await it.bulk.waiting(), [])
  })

  test('forgets those that wait when they are deleted', async () => {
    await using receiver = await refusing()
    const db = await context.open()
    await using it = await open(db)
    await close(it.world, ['busy'], receiver.url)
    const { namespaceId } = await it.world.find('busy')
    await it.world.start('busy', receiver.url, { delaySeconds: 1_000_000 })
    const jobId = await it.bulk.start(`ExecutionStatus = 'Failed'`)
    await it.bulk.step()
    assert.equal((await it.bulk.waiting()).length, 1)
    await db.write((tx) => deleteClosedRuns(tx, namespaceId))
    await it.bulk.later(60)
    assert.deepEqual(await it.bulk.progress(jobId), { matched: 1, started: 0, failed: 0, done: true })
    assert.deepEqual(await it.bulk.waiting(), [])
  })

  test('ends without a word when nobody keeps its counts any more', async () => {
    await using receiver = await refusing()
    const db = await context.open()
    await using it = await open(db)
    await close(it.world, ['a'], receiver.url)
    const { namespaceId } = await it.world.find('a')
    await it.bulk.start()
    const later = it.world.namespace.clock.now() + MICROS_PER_SECOND
    assert.equal(await db.write((tx) => deleteReplays(tx, namespaceId, later)), 1)
    await it.bulk.step()
    assert.equal((await it.bulk.jobs.statistics()).length, 0)
    assert.equal(receiver.requests.all.length, 1)
  })

  async function replaysOf(db: Database): Promise<{ started: Replay['started']; isFinished: boolean }[]> {
    const rows = await db.query.selectFrom('callback_replays').select(['started', 'finished_at']).execute()
    return rows.map(({ started, finished_at }) => ({ started, isFinished: finished_at !== null }))
  }
})
