import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertReplay, type ReplayId } from '../../src/callbacks/replay/store-replays.ts'
import { insertWaiting } from '../../src/callbacks/replay/store-waiting-replays.ts'
import { purgeRuns, scheduleRunRetention } from '../../src/callbacks/run/retention.ts'
import { RETENTION_CHUNK } from '../../src/callbacks/run/store-retention.ts'
import { MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { JobEngine } from '../../src/platform/jobs/job-engine.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { withMember } from '../support/with-member.ts'
import { type NamespaceWorld, namespaceWorld } from './namespace-world.ts'
import { FATAL, settlementOf, startMany, store } from './store-world.ts'

const DAY_MICROS = 86_400 * MICROS_PER_SECOND
const DAY_MS = 86_400_000

eachDatabase('the retention of closed runs', (context) => {
  async function open(yaml = '') {
    const world = await namespaceWorld(await context.open(), yaml)
    const make = async (name: string, retention: string) => {
      const wish = { name, set: { retention: Number.parseInt(retention, 10) * DAY_MS } }
      return (await world.namespaces.create(world.operator, wish)).namespace.id
    }
    return { ...world, make }
  }

  /** Runs that closed so many days before now. */
  async function closed(world: NamespaceWorld, namespaceId: string, days: number, count: number): Promise<void> {
    const at = world.clock.now() - Math.round(days * DAY_MICROS)
    const wishes = Array.from({ length: count }, () => ({ namespaceId: namespaceId as never, at: at - 1_000 }))
    const runs = await startMany(world.db, wishes)
    await store(
      world.db,
      runs.map((run) => settlementOf(run, FATAL, at)),
    )
  }

  /** Asked for so many days before now. */
  function addReplay({ db, clock }: NamespaceWorld, id: ReplayId, namespaceId: string, days: number) {
    return db.write((tx) =>
      insertReplay(tx, {
        id,
        namespaceId: namespaceId as never,
        requestId: `${days}`,
        query: '',
        searchAttributes: {},
        closedUntil: 1,
        runNumberUntil: 1,
        matched: 1,
        started: 0,
        failed: 0,
        createdAt: clock.now() - days * DAY_MICROS,
        finishedAt: null,
      }),
    )
  }

  function runningIn(world: NamespaceWorld, namespaceId: string, days: number) {
    return startMany(world.db, [{ namespaceId: namespaceId as never, at: world.clock.now() - days * DAY_MICROS }])
  }

  async function countsOf(db: Database, namespaceId: string): Promise<number> {
    const rows = await db.query
      .selectFrom('callback_runs')
      .select('run_number')
      .where('namespace_id', '=', namespaceId as never)
      .execute()
    return rows.length
  }

  async function rowsBeside(db: Database): Promise<number[]> {
    const tables = ['callback_inputs', 'callback_failures', 'callback_attempts'] as const
    return Promise.all(
      tables.map(async (table) => (await db.query.selectFrom(table).select('run_number').execute()).length),
    )
  }

  test('removes what closed longer ago than its namespace keeps, and nothing that runs', async () => {
    const world = await open()
    const [short, long] = [await world.make('short', '2'), await world.make('long', '60')]
    for (const id of [short, long]) {
      await closed(world, id, 2.01, 3)
      await closed(world, id, 1.99, 2)
      await closed(world, id, 61, 1)
      await runningIn(world, id, 90)
    }
    assert.equal(await purgeRuns(world), 4 + 1)
    assert.deepEqual([await countsOf(world.db, short), await countsOf(world.db, long)], [3, 6])
    // Nothing of them is left anywhere.
    assert.deepEqual(await rowsBeside(world.db), [9, 7, 7])
    assert.equal(await purgeRuns(world), 0)
  })

  test('removes any number, a chunk at a time', async () => {
    const world = await open()
    const id = await world.make('many', '1')
    await closed(world, id, 3, 2 * RETENTION_CHUNK + 7)
    assert.equal(await purgeRuns(world), 2 * RETENTION_CHUNK + 7)
    assert.equal(await countsOf(world.db, id), 0)
  })

  test('goes by what the namespace says now', async () => {
    const world = await open()
    const id = await world.make('changed', '30')
    await closed(world, id, 5, 1)
    assert.equal(await purgeRuns(world), 0)
    await world.namespaces.update(world.operator, { name: 'changed', set: { retention: 4 * DAY_MS } })
    assert.equal(await purgeRuns(world), 1)
  })

  test('removes any number of those that waited for a replay that is gone, a chunk at a time', async () => {
    const world = await open()
    const [gone, kept] = [newId<'Replay'>(), newId<'Replay'>()]
    const numbers = Array.from({ length: 2_500 }, (_, n) => n)
    await world.db.write(async (tx) => {
      await insertWaiting(tx, gone, numbers)
      await insertWaiting(tx, kept, [1])
    })
    await addReplay(world, kept, await world.make('kept', '2'), 1)
    const waiting = async () => {
      const rows = await world.db.query.selectFrom('callback_waiting_replays').select('replay_id').execute()
      return rows.map((row) => row.replay_id)
    }
    const counts = [(await waiting()).length]
    const write: Database['write'] = async (...work) => {
      const answer = await world.db.write(...work)
      counts.push((await waiting()).length)
      return answer
    }
    await purgeRuns({ ...world, db: withMember(world.db, 'write', write) })
    const most = Math.max(...counts.slice(1).map((count, n) => (counts[n] as number) - count))
    assert.ok(most <= 1_000, `${most} at once`)
    assert.deepEqual(await waiting(), [kept])
  })

  test('stops between two chunks when it is told to', async () => {
    const world = await open()
    const id = await world.make('stopped', '1')
    await closed(world, id, 3, 1)
    await assert.rejects(purgeRuns(world, AbortSignal.abort(new Error('stop'))), /stop/)
    assert.equal(await countsOf(world.db, id), 1)
  })

  test('is a job that comes every hour', async () => {
    const world = await open()
    const { db, clock, policies } = world
    const id = await world.make('hourly', '1')
    const jobs = new JobEngine({ db, clock, log: silentLogger() })
    scheduleRunRetention({ db, clock, jobs, policies })
    const step = async () => {
      await jobs.tick()
      await jobs.whenIdle()
    }
    await step()
    await closed(world, id, 2, 1)
    await step()
    assert.equal(await countsOf(db, id), 1)
    await clock.advance(3_600_000)
    await step()
    assert.equal(await countsOf(db, id), 0)
    await jobs.stop()
  })

  test('removes replays as old as that, and those of namespaces that are gone', async () => {
    const world = await open()
    const id = await world.make('replayed', '2')
    const add = async (namespaceId: string, days: number) => {
      const replayId = newId<'Replay'>()
      await world.db.write((tx) => insertWaiting(tx, replayId, [1, 2]))
      await addReplay(world, replayId, namespaceId, days)
    }
    await add(id, 1)
    await add(id, 3)
    await add(newId(), 0)
    await purgeRuns(world)
    const left = await world.db.query.selectFrom('callback_replays').select('request_id').execute()
    assert.deepEqual(
      left.map((row) => row.request_id),
      ['1'],
    )
    // What waited for them is gone with them.
    assert.equal((await world.db.query.selectFrom('callback_waiting_replays').selectAll().execute()).length, 2)
  })
})
