import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startReceiver } from '../support/receivers/receiver.ts'
import { closedRuns, progressOf, runsById, startBulk, untilDone } from './bulk-replay-api.ts'
import { assertSays, type CallbacksApi, eachServer, errorOf, NOBODY } from './callbacks-api.ts'

const FAILED = `ExecutionStatus = 'Failed'`
let made = 0

eachServer('replaying everything that a query finds', (callbacks) => {
  /** A namespace of its own with a receiver that refuses, as long as it is told to. */
  async function world(searchAttributes: Record<string, string> = {}) {
    const own = await callbacks().another(`bulk-${++made}`, { searchAttributes })
    const state = { status: 400 }
    const receiver = await startReceiver({ answer: () => ({ status: state.status }) })
    const to = { callback: { nexus: { url: receiver.url } } }
    return { own, state, receiver, to, [Symbol.asyncDispose]: () => receiver.stop() }
  }

  test('starts each closed run that matches once, and tells how far it has come', async () => {
    await using it = await world({ Team: 'Keyword' })
    const { own, state, receiver, to } = it
    const ids = Array.from({ length: 130 }, (_, n) => `failed-${n}`)
    await closedRuns(own, ids, { ...to, searchAttributes: { indexedFields: { Team: 'a' } } })
    await closedRuns(own, ['other-team'], { ...to, searchAttributes: { indexedFields: { Team: 'b' } } })
    state.status = 200
    await closedRuns(own, ['fine'], { ...to, searchAttributes: { indexedFields: { Team: 'a' } } })
    await own.startRunning('running', { searchAttributes: { indexedFields: { Team: 'a' } } })
    const query = `${FAILED} AND Team = 'a'`
    const { body: dry } = await startBulk(own, { query, dryRun: true })
    assert.deepEqual(dry, { matched: 130 })
    const { body } = await startBulk(own, { query })
    assert.deepEqual(Object.keys(body), ['jobId', 'matched'])
    assert.equal(body.matched, 130)
    assert.deepEqual(await untilDone(own, body.jobId), { matched: 130, started: 130, failed: 0, done: true })
    for (const id of ids) await own.poll(id)
    const runs = await runsById(own)
    assert.deepEqual(new Set(ids.map((id) => runs.get(id))), new Set([2]))
    assert.deepEqual([runs.get('other-team'), runs.get('fine'), runs.get('running')], [1, 1, 1])
    assert.equal(receiver.requests.all.length, 130 + 2 + 130)
    // What they deliver is found by the same attributes.
    assert.equal((await own.count(`Team = 'a' AND ExecutionStatus = 'Succeeded'`)).body.count, '131')
  })

  test('leaves out what closes after the request, its own runs included', async () => {
    await using it = await world()
    const { own, to } = it
    await closedRuns(own, ['a', 'b', 'c'], to)
    // Still refused: what it starts matches as well.
    const { body } = await startBulk(own, { query: FAILED })
    assert.deepEqual(await untilDone(own, body.jobId), { matched: 3, started: 3, failed: 0, done: true })
    for (const id of ['a', 'b', 'c']) await own.poll(id)
    assert.equal((await own.count()).body.count, '6')
  })

  test('never takes running ones, whatever the query says', async () => {
    await using it = await world()
    const { own, to, state } = it
    await own.startRunning('running')
    await closedRuns(own, ['closed'], to)
    state.status = 200
    for (const [query, matched] of [
      ['', 1],
      [`ExecutionStatus = 'Running'`, 0],
      [`CallbackId IN ('running', 'closed')`, 1],
    ] as const) {
      assert.deepEqual((await startBulk(own, { query, dryRun: true })).body, { matched })
    }
    const { body } = await startBulk(own, { query: `ExecutionStatus = 'Running'` })
    assert.deepEqual(await untilDone(own, body.jobId), { matched: 0, started: 0, failed: 0, done: true })
  })

  test('is one job however often one request comes', async () => {
    await using it = await world()
    const { own, to, state } = it
    await closedRuns(own, ['a', 'b'], to)
    state.status = 200
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => (await startBulk(own, { query: FAILED, requestId: 'r-1' })).body),
    )
    const [first] = answers
    assert.deepEqual(new Set(answers.map(({ jobId }) => jobId)).size, 1)
    await untilDone(own, first.jobId)
    const again = await startBulk(own, { query: `CallbackId = 'x'`, requestId: 'r-1' })
    assert.deepEqual(again.body, { jobId: first.jobId, matched: 2 })
    for (const id of ['a', 'b']) await own.poll(id)
    assert.deepEqual(
      await runsById(own),
      new Map([
        ['a', 2],
        ['b', 2],
      ]),
    )
    const other = await startBulk(own, { query: FAILED, requestId: 'r-2' })
    assert.notEqual(other.body.jobId, first.jobId)
    await untilDone(own, other.body.jobId)
  })

  test('starts all closed runs of one callback, each when the one before it has closed', async () => {
    await using it = await world()
    const { own, to } = it
    const ids = ['a', 'b', 'c', 'd']
    for (let n = 0; n < 3; n++) await closedRuns(own, ids, to)
    const { body } = await startBulk(own, { query: FAILED })
    assert.deepEqual(await untilDone(own, body.jobId), { matched: 12, started: 12, failed: 0, done: true })
    for (const id of ids) await own.poll(id)
    const runs = await runsById(own)
    assert.deepEqual(
      ids.map((id) => runs.get(id)),
      [6, 6, 6, 6],
    )
  })

  test('counts what cannot be started as failed', async () => {
    await using it = await world()
    const { own, to } = it
    await closedRuns(own, ['free'], to)
    await closedRuns(own, ['free'], to)
    await own.api.patch(own.base, 200, { body: { allowedAddresses: [{ pattern: '*.example.org' }] } })
    const refused = await startBulk(own, { query: `CallbackId = 'free'` })
    assert.deepEqual(await untilDone(own, refused.body.jobId), { matched: 2, started: 0, failed: 2, done: true })
  })

  test('is refused for what is not there and for what cannot be', async () => {
    const own = await callbacks().another(`bulk-${++made}`)
    for (const [body, word] of [
      [{ query: 'Nothing = 1' }, 'invalid query'],
      [{ query: 'GROUP BY ExecutionStatus' }, 'invalid query'],
      [{ query: `${FAILED} GROUP BY ExecutionStatus`, dryRun: true }, 'invalid query'],
      [{ query: '', requestId: 'x'.repeat(1001) }, 'request_id'],
      [{ query: '', limit: 3 }, 'limit'],
    ] as const) {
      const error = errorOf(await startBulk(own, body, 400))
      assert.equal(error.code, 3)
      assertSays(error, word)
    }
    errorOf(await callbacks().api.post('/namespaces/nowhere/callback-replays', 404, { body: { query: '' } }))
    await own.api.patch(own.base, 200, { body: { enabled: false } })
    assert.equal(errorOf(await startBulk(own, { query: '' }, 501)).code, 12)
  })

  test('is shown to its own namespace only', async () => {
    const [one, other] = [await callbacks().another(`bulk-${++made}`), await callbacks().another(`bulk-${++made}`)]
    const { body } = await startBulk(one, { query: '' })
    await untilDone(one, body.jobId)
    const { body: shown } = await one.api.get(`/api/v1${one.base}/callback-replays/${body.jobId}`, 200)
    assert.deepEqual(shown, await progressOf(one, body.jobId))
    const refused = async (world: CallbacksApi, id: string, status: number) =>
      errorOf(await world.api.get(`${world.base}/callback-replays/${id}`, status))
    assert.equal((await refused(other, body.jobId, 404)).code, 5)
    assert.equal((await refused(one, NOBODY, 404)).code, 5)
    assertSays(await refused(one, 'x', 400), 'job_id')
  })
})
