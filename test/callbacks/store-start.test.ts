import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributeRows } from '../../src/callbacks/query/attribute-rows.ts'
import { deleteRun } from '../../src/callbacks/run/store-delete.ts'
import { findInput, findRun } from '../../src/callbacks/run/store-runs.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { findFailures } from './store-rows.ts'
import { addNamespace, FATAL, live, NAMESPACE, SHARED, start, startIn } from './store-world.ts'

async function countRuns(db: Database): Promise<number> {
  const { count } = await db.query
    .selectFrom('callback_runs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

eachDatabase('starting a run', ({ open, openAgain }) => {
  test('stores everything that was given', async () => {
    const db = await open()
    const bytes = Buffer.from([0, 255, 1, 2])
    const run = await start(db, {
      callbackId: 'order 1 – ünïcode 🗒',
      at: 5_000,
      timeoutMicros: 60_000_000,
      startDelayMicros: 700,
      retryPolicy: { maximumAttempts: 3, coefficient: 1.5 },
      callback: bytes,
      completion: Buffer.alloc(100_000, 7),
      searchAttributes: Buffer.alloc(0),
      attributes: [
        ...attributeRows('Tags', 'KeywordList', ['a', 'b']),
        ...attributeRows('Amount', 'Int', [2n ** 63n - 1n]),
        ...attributeRows('Share', 'Double', [0.1]),
      ],
    })
    const found = await findRun(db, NAMESPACE, 'order 1 – ünïcode 🗒', null)
    assert.deepEqual(found, { ...run, destination: 'https://hooks.example.org' })
    assert.deepEqual(found?.record, {
      state: 'SCHEDULED',
      attempt: 0,
      transitionCount: 1,
      createdAt: 5_000,
      deadlineAt: 60_005_000,
      nextAttemptAt: 5_700,
      lastAttemptCompletedAt: null,
      closedAt: null,
      terminateRequestId: null,
      retryPolicy: { maximumAttempts: 3, coefficient: 1.5 },
    })
    assert.equal(found?.timeoutMicros, 60_000_000)
    const input = await findInput(db, run.runNumber)
    assert.deepEqual(Buffer.from(input?.callback ?? []), bytes)
    assert.equal(input?.completion.length, 100_000)
    assert.equal(input?.searchAttributes?.length, 0)
    assert.deepEqual(await findFailures(db, run.runNumber), { lastAttempt: null, terminal: null })
    const rows = await db.query
      .selectFrom('callback_attributes')
      .select(['name', 'text_value'])
      .orderBy('name')
      .execute()
    assert.deepEqual(rows.map(({ name, text_value }) => [name, text_value]).sort(), [
      ['Amount', null],
      ['Share', null],
      ['Tags', 'a'],
      ['Tags', 'b'],
    ])
  })

  test('a request that is repeated gets the run it started, while it is running and after it closed', async () => {
    const db = await open()
    const run = await start(db, { callbackId: 'a', requestId: 'r' })
    const again = () =>
      db.write((tx) => startIn(tx, { callbackId: 'a', requestId: 'r', completion: Buffer.from('other') }), SHARED)
    assert.deepEqual(await again(), { kind: 'same', runId: run.runId })
    await live(db, run, [FATAL, 2_000])
    assert.deepEqual(await again(), { kind: 'same', runId: run.runId })
    assert.equal(await countRuns(db), 1)
    assert.equal(Buffer.from((await findInput(db, run.runNumber))?.completion ?? []).toString(), 'completion')
  })

  test('another request is told which one runs, and may start once that is closed', async () => {
    const db = await open()
    const first = await start(db, { callbackId: 'a', requestId: 'one' })
    const answer = await db.write((tx) => startIn(tx, { callbackId: 'a', requestId: 'two' }), SHARED)
    assert.deepEqual(answer, { kind: 'conflict', runId: first.runId, requestId: 'one' })
    assert.equal(await countRuns(db), 1)
    const closed = await live(db, first, [{ kind: 'attempt_succeeded' }, 2_000])
    const second = await start(db, { callbackId: 'a', requestId: 'two' })
    assert.equal((await findRun(db, NAMESPACE, 'a', null))?.runId, second.runId)
    assert.deepEqual(await findRun(db, NAMESPACE, 'a', first.runId), closed)
  })

  test('only the request of the latest run is remembered', async () => {
    const db = await open()
    await live(db, await start(db, { callbackId: 'a', requestId: 'one' }), [FATAL, 2_000])
    await live(db, await start(db, { callbackId: 'a', requestId: 'two' }), [FATAL, 2_000])
    await start(db, { callbackId: 'a', requestId: 'one' })
    assert.equal(await countRuns(db), 3)
  })

  test('namespaces have ids of their own', async () => {
    const db = await open()
    const other = newId<'Namespace'>()
    const mine = await start(db, { callbackId: 'a', requestId: 'r' })
    const theirs = await start(db, { callbackId: 'a', requestId: 'r', namespaceId: other })
    assert.equal((await findRun(db, NAMESPACE, 'a', null))?.runId, mine.runId)
    assert.equal((await findRun(db, other, 'a', null))?.runId, theirs.runId)
    assert.equal(await findRun(db, other, 'a', mine.runId), undefined)
    assert.equal(await findRun(db, NAMESPACE, 'b', mine.runId), undefined)
    assert.equal(await findRun(db, NAMESPACE, 'a', newId()), undefined)
    assert.equal(await findRun(db, NAMESPACE, 'b', null), undefined)
  })

  test('the number of a deleted run is not given again', async () => {
    const db = await open()
    const first = await start(db)
    assert.equal(await db.write((tx) => deleteRun(tx, first.runNumber)), true)
    assert.ok((await start(db)).runNumber > first.runNumber)
  })

  for (const isolation of ['read committed', 'serializable'] as const) {
    test(`of starts that meet exactly one starts, and the others hear of it (${isolation})`, async () => {
      const db = await open({ poolSize: 8 })
      const other = await openAgain(db, { poolSize: 8 })
      await addNamespace(db)
      for (let round = 0; round < 5; round++) {
        const callbackId = `race ${round}`
        const answers = await Promise.all(
          Array.from({ length: 12 }, (_, n) =>
            (n % 2 ? db : other).write((tx) => startIn(tx, { callbackId, requestId: `request ${n}` }), { isolation }),
          ),
        )
        const [winner, ...others] = answers.filter(({ kind }) => kind === 'started')
        assert.ok(winner?.kind === 'started' && others.length === 0)
        const { runId, requestId } = winner.run
        const losers = answers.filter((answer) => answer !== winner)
        assert.deepEqual(losers, Array(11).fill({ kind: 'conflict', runId, requestId }))
      }
    })

    test(`a request that is sent many times at once starts one run (${isolation})`, async () => {
      const db = await open({ poolSize: 8 })
      const other = await openAgain(db, { poolSize: 8 })
      await addNamespace(db)
      const wish = { callbackId: 'a', requestId: 'r' }
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) => (n % 2 ? db : other).write((tx) => startIn(tx, wish), { isolation })),
      )
      assert.equal(
        new Set(
          answers
            .map((answer) => (answer.kind === 'started' ? answer.run : answer) as { runId: string })
            .map(({ runId }) => runId),
        ).size,
        1,
      )
      assert.equal(answers.filter(({ kind }) => kind === 'started').length, 1)
      assert.equal(await countRuns(db), 1)
    })
  }

  test('a request that waits for its twin hears of the run, even if that has closed meanwhile', async () => {
    const db = await open()
    const other = await openAgain(db)
    await addNamespace(db)
    const wish = { callbackId: 'a', requestId: 'r' }
    const { promise: secondBegan, resolve: begin } = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const first = other.write(async (tx) => {
      const answer = await startIn(tx, wish)
      started.resolve()
      if (db.engine === 'postgres') await secondBegan
      return answer
    }, SHARED)
    await started.promise
    const second = db.write((tx) => {
      begin()
      return startIn(tx, wish)
    }, SHARED)
    const one = await first
    assert.ok(one.kind === 'started')
    await live(other, one.run, [FATAL, 2_000])
    assert.deepEqual(await second, { kind: 'same', runId: one.run.runId })
  })
})
