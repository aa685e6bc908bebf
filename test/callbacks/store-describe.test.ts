import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeDestination } from '../../src/callbacks/destination/store-destinations.ts'
import { deleteRun } from '../../src/callbacks/run/store-delete.ts'
import { findDescribed, findOutcome } from '../../src/callbacks/run/store-describe.ts'
import { storeTransitions } from '../../src/callbacks/run/store-transition.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FATAL, NAMESPACE, SHARED, settlementOf, start, TERMINATE } from './store-world.ts'

eachDatabase('a run to be described', (context) => {
  test('comes with what it was given, where it goes, and its failures', async () => {
    const db = await context.open()
    const started = await start(db, {
      callbackId: 'one',
      callback: Buffer.from('sealed'),
      completion: Buffer.from('result'),
      searchAttributes: Buffer.from('attributes'),
      timeoutMicros: 5_000_000,
    })
    const info = await findDescribed(db, NAMESPACE, 'one', { runId: null, withCompletion: false })
    assert.ok(info)
    const { callback, completion, searchAttributes, destination, isPaused, failures, ...run } = info
    assert.deepEqual(run, started)
    assert.deepEqual([text(callback), completion, text(searchAttributes)], ['sealed', null, 'attributes'])
    assert.deepEqual([destination, isPaused], ['https://hooks.example.org', false])
    assert.deepEqual(failures, { lastAttempt: null, terminal: null })
    const all = await findDescribed(db, NAMESPACE, 'one', { runId: started.runId, withCompletion: true })
    assert.equal(text(all?.completion ?? null), 'result')

    await db.write((tx) => changeDestination(tx, started.destinationId, { isPaused: true }))
    await db.write((tx) => storeTransitions(tx, [settlementOf(started, FATAL, 2_000)]), SHARED)
    const failed = await findDescribed(db, NAMESPACE, 'one', { runId: null, withCompletion: false })
    assert.deepEqual([failed?.isPaused, failed?.record.state], [true, 'FAILED'])
    assert.equal(failed?.failures.lastAttempt?.message, 'no')
    assert.equal(failed?.failures.terminal, null)
  })

  test('is the latest of its callback, or the one that is named, and only under its own names', async () => {
    const db = await context.open()
    const first = await start(db, { callbackId: 'again' })
    await db.write((tx) => storeTransitions(tx, [settlementOf(first, TERMINATE, 2_000)]), SHARED)
    const second = await start(db, { callbackId: 'again' })
    const idOf = async (runId: string | null) => {
      const [described, outcome] = [
        await findDescribed(db, NAMESPACE, 'again', { runId, withCompletion: true }),
        await findOutcome(db, NAMESPACE, 'again', runId),
      ]
      assert.equal(described?.runId, outcome?.runId)
      return outcome?.runId
    }
    assert.deepEqual(
      [await idOf(null), await idOf(first.runId), await idOf(newId())],
      [second.runId, first.runId, undefined],
    )
    const other = newId<'Namespace'>()
    for (const runId of [null, first.runId]) {
      assert.equal(await findOutcome(db, other, 'again', runId), undefined)
      assert.equal(await findOutcome(db, NAMESPACE, 'other', runId), undefined)
      assert.equal(await findDescribed(db, other, 'again', { runId, withCompletion: false }), undefined)
    }
    const closed = await findOutcome(db, NAMESPACE, 'again', first.runId)
    assert.deepEqual([closed?.record.state, closed?.failures.terminal?.message], ['TERMINATED', 'enough'])
    await db.write((tx) => deleteRun(tx, second.runNumber), SHARED)
    assert.equal(await idOf(null), first.runId)
  })
})

function text(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString()
}
