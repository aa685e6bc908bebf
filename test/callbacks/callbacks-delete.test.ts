import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { assertSays, eachServer, errorOf, NOBODY } from './callbacks-api.ts'

const TABLES = [
  'callback_runs',
  'callback_inputs',
  'callback_failures',
  'callback_attempts',
  'callback_attributes',
] as const

eachServer('deleting a callback execution', (callbacks) => {
  test('removes a running one at once, breaks off its request, and frees the id', async () => {
    await using receiver = await startReceiver({ answer: null })
    const callback = { nexus: { url: receiver.url } }
    const runId = await callbacks().startRun('gone', { callback, requestId: 'r-1' })
    const delivery = await receiver.requests.next()
    assert.deepEqual((await callbacks().delete('gone')).body, {})
    await delivery.closed
    errorOf(await callbacks().api.get(callbacks().at('gone'), 404))
    errorOf(await callbacks().api.get(callbacks().at('gone', `?runId=${runId}`), 404))
    errorOf(await callbacks().poll('gone', '', 404))
    errorOf(await callbacks().terminate('gone', {}, 404))
    assert.deepEqual((await callbacks().list({ query: 'CallbackId = "gone"' })).body, {})
    // With the run goes the memory of its request.
    assert.notEqual(await callbacks().startRunning('gone', { requestId: 'r-1' }), runId)
  })

  test('is what the address says: a body that names another run is refused, and nothing is removed', async () => {
    const { api } = callbacks()
    const first = await callbacks().startRunning('bodied')
    await callbacks().terminate('bodied')
    const latest = await callbacks().startRunning('bodied')
    const path = callbacks().at('bodied')
    for (const body of [{ runId: first }, { run_id: latest }, { nothing: 1 }]) {
      assert.equal(errorOf(await api.delete(path, 400, { body })).code, 3)
    }
    assertSays(errorOf(await api.delete(`${path}?runId=${first}`, 400, { body: { runId: latest } })), 'runId')
    assert.equal((await callbacks().describe('bodied')).info.runId, latest)
    await api.delete(`${path}?runId=${first}`, 200, { body: { runId: first, callbackId: 'bodied' } })
    await api.delete(path, 200, { body: {} })
    errorOf(await api.get(path, 404))
  })

  test('removes every row of the run and none of others', async () => {
    await using failing = await startReceiver({ answer: { status: 400 } })
    const callback = { nexus: { url: failing.url } }
    const rich = { callback, searchAttributes: { indexedFields: { CustomKeywordList: ['a', 'b'] } } }
    for (const id of ['rows-1', 'rows-2']) {
      await callbacks().startRun(id, rich)
      await callbacks().closed(id)
    }
    const { dataDir, databaseUrl } = callbacks().server
    const clock = new SystemClock()
    await using db = await openDatabase({ dataDir, databaseUrl, poolSize: 1, clock, log: silentLogger() })
    const rows = await db.query
      .selectFrom('callback_runs')
      .select('run_number')
      .where('callback_id', 'in', ['rows-1', 'rows-2'])
      .orderBy('run_number')
      .execute()
    const counts = async (at: number) => {
      const found: number[] = []
      for (const table of TABLES) {
        const number = rows[at]?.run_number as number
        found.push((await db.query.selectFrom(table).selectAll().where('run_number', '=', number).execute()).length)
      }
      return found
    }
    const before = await counts(1)
    assert.deepEqual(before, [1, 1, 1, 1, 2])
    await callbacks().delete('rows-1')
    assert.deepEqual(await counts(0), [0, 0, 0, 0, 0])
    assert.deepEqual(await counts(1), before)
  })

  test('of the latest run leaves the one before it the latest', async () => {
    const first = await callbacks().startRunning('layers', { requestId: 'r-1' })
    await callbacks().terminate('layers')
    const second = await callbacks().startRunning('layers', { requestId: 'r-2' })
    await callbacks().delete('layers')
    assert.equal((await callbacks().describe('layers')).info.runId, first)
    errorOf(await callbacks().api.get(callbacks().at('layers', `?runId=${second}`), 404))
    assert.equal(await callbacks().startRun('layers', { requestId: 'r-1' }), first)
  })

  test('of a run that is named leaves the others', async () => {
    const first = await callbacks().startRunning('named')
    await callbacks().terminate('named')
    const second = await callbacks().startRunning('named')
    await callbacks().delete('named', `?runId=${first}`)
    assert.equal((await callbacks().describe('named')).info.runId, second)
    errorOf(await callbacks().delete('named', `?runId=${first}`, 404))
  })

  test('of what is not there is NOT_FOUND, and nothing happens', async () => {
    const runId = await callbacks().startRunning('kept')
    assertSays(errorOf(await callbacks().delete('kept', `?runId=${NOBODY}`, 404)), 'kept', NOBODY)
    assertSays(errorOf(await callbacks().delete('kept', '?runId=x', 400)), 'run_id', 'UUID')
    errorOf(await callbacks().delete('not there', '', 404))
    errorOf(await callbacks().delete('x'.repeat(1001), '', 400))
    errorOf(await callbacks().api.delete('/namespaces/nowhere/callbacks/kept', 404))
    const { info } = await callbacks().describe('kept')
    assert.deepEqual([info.runId, info.state], [runId, 'CALLBACK_STATE_SCHEDULED'])
    await callbacks().delete('kept')
    errorOf(await callbacks().delete('kept', '', 404))
  })

  test('of one that waits for its destination leaves nothing to deliver', async () => {
    await using failing = await startReceiver({ answer: { status: 503 } })
    const callback = { nexus: { url: failing.url } }
    await callbacks().startRun('waiting', { callback, retryPolicy: { initialInterval: '0.001s' } })
    await callbacks().until('waiting', ({ attempt }) => (attempt ?? 0) > 0)
    await callbacks().delete('waiting')
    errorOf(await callbacks().api.get(callbacks().at('waiting'), 404))
  })
})
