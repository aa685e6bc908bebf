import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReceivedRequest } from '../support/receivers/receiver.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import {
  alreadyStarted,
  assertSays,
  type CallbacksApi,
  eachServer,
  errorOf,
  NOBODY,
  type Wish,
} from './callbacks-api.ts'

function replay(callbacks: CallbacksApi, id: string, body: Wish = {}, status = 200) {
  return callbacks.api.post(callbacks.at(id, '/replay'), status, { body })
}

async function replayed(callbacks: CallbacksApi, id: string, body: Wish = {}): Promise<string> {
  return (await replay(callbacks, id, body)).body.runId
}

/** Closed at its first attempt. */
async function closedRun(callbacks: CallbacksApi, id: string, more: Wish = {}): Promise<string> {
  const runId = await callbacks.startRun(id, more)
  await callbacks.poll(id, `?runId=${runId}`)
  return runId
}

/** Without what belongs to one attempt. */
function content({ path, body, headers }: ReceivedRequest) {
  const own = Object.entries(headers).filter(([name]) => !/^(webhook-|nexus-operation-\w+-time|date)/.test(name))
  return { path, body: body.toString(), headers: Object.fromEntries(own) }
}

eachServer('replaying a closed run', (callbacks) => {
  test('sends the same once more, as a new run of the same callback', async () => {
    await using receiver = await startReceiver()
    const nexus = { url: `${receiver.url}/hook?a=b`, header: { 'x-tenant': 'a' }, token: 't-1' }
    const source = await closedRun(callbacks(), 'same', {
      callback: { nexus, links: [{ batchJob: { jobId: 'j' } }] },
      completion: { failure: { message: 'no money', canceledFailureInfo: {} } },
    })
    const runId = await replayed(callbacks(), 'same')
    assert.notEqual(runId, source)
    await callbacks().poll('same')
    const [first, second] = await receiver.requests.take(2)
    assert.ok(first && second)
    assert.deepEqual(content(second), content(first))
    assert.deepEqual(
      [first, second].map(({ headers }) => headers['webhook-id']),
      [source, runId],
    )
    assert.deepEqual(
      [first, second].map(({ headers }) => headers['webhook-attempt']),
      ['1', '1'],
    )
    const [old, latest] = await Promise.all([
      callbacks().describe('same', `?runId=${source}&includeInput=true`),
      callbacks().describe('same', '?includeInput=true'),
    ])
    assert.deepEqual([latest.info.runId, latest.info.attempt], [runId, 1])
    assert.deepEqual([latest.info.callback, latest.input], [old.info.callback, old.input])
  })

  test('takes over search attributes, retry policy and time limit', async () => {
    const indexedFields = { Customer: 'c-7', Amount: 7, Tags: ['a', 'b'] }
    const own = await callbacks().another('with-attributes', {
      searchAttributes: { Customer: 'Keyword', Amount: 'Int', Tags: 'KeywordList' },
    })
    await using receiver = await startReceiver({ answer: { status: 503 } })
    await closedRun(own, 'first', {
      callback: { nexus: { url: receiver.url } },
      searchAttributes: { indexedFields },
      retryPolicy: { initialInterval: '0.001s', maximumAttempts: 2 },
      scheduleToCloseTimeout: '600s',
    })
    // Also what is not declared any more belongs to the run.
    await own.api.patch(own.base, 200, { body: { searchAttributes: { Customer: null } } })
    await replayed(own, 'first', { callbackId: 'second' })
    await own.poll('second')
    const { info } = await own.describe('second')
    assert.deepEqual(info.searchAttributes, { indexedFields })
    assert.deepEqual([info.attempt, info.scheduleToCloseTimeout], [2, '600s'])
    await own.api.patch(own.base, 200, { body: { searchAttributes: { Customer: 'Keyword' } } })
    const { body } = await own.list({ query: `Customer = 'c-7' AND Amount = 7 AND Tags = 'b'` })
    const found = body.executions.map(({ callbackId }: { callbackId: string }) => callbackId)
    assert.deepEqual(found.sort(), ['first', 'second'])
  })

  test('is one replay however often one request comes', async () => {
    const source = await closedRun(callbacks(), 'again')
    const runId = await replayed(callbacks(), 'again', { requestId: 'r-1' })
    assert.notEqual(runId, source)
    assert.equal(await replayed(callbacks(), 'again', { requestId: 'r-1' }), runId)
    await callbacks().poll('again')
    for (const body of [{ requestId: 'r-1' }, { requestId: 'r-1', runId: source }]) {
      assert.equal(await replayed(callbacks(), 'again', body), runId)
    }
    const many = await Promise.all(
      Array.from({ length: 8 }, () => replayed(callbacks(), 'again', { requestId: 'r-2', callbackId: 'other' })),
    )
    assert.equal(new Set(many).size, 1)
    await callbacks().poll('other')
    assert.notEqual(await replayed(callbacks(), 'again', { requestId: 'r-3' }), runId)
  })

  test('is refused when its request id is the one that started the run it names: nothing would be sent', async () => {
    const runId = await closedRun(callbacks(), 'own id', { requestId: 'r-1' })
    assertSays(errorOf(await replay(callbacks(), 'own id', { runId, requestId: 'r-1' }, 400)), 'request_id')
    assert.notEqual(await replayed(callbacks(), 'own id', { runId, requestId: 'r-2' }), runId)
  })

  test('of a run that is named replays that one', async () => {
    const first = await closedRun(callbacks(), 'named', { completion: { success: 1 } })
    await closedRun(callbacks(), 'named', { completion: { success: 2 } })
    await replayed(callbacks(), 'named', { runId: first, callbackId: 'of-first' })
    await replayed(callbacks(), 'named', { callbackId: 'of-latest' })
    const input = async (id: string) => (await callbacks().describe(id, '?includeInput=true')).input
    assert.deepEqual([await input('of-first'), await input('of-latest')], [{ success: 1 }, { success: 2 }])
  })

  test('replays runs that failed, were terminated or timed out', async () => {
    await using refusing = await startReceiver({ answer: { status: 400 } })
    await closedRun(callbacks(), 'failed', { callback: { nexus: { url: refusing.url } } })
    await callbacks().startRunning('ended')
    await callbacks().terminate('ended')
    await callbacks().startRunning('late', { scheduleToCloseTimeout: '0.01s' })
    await callbacks().poll('late')
    for (const id of ['failed', 'ended', 'late']) {
      const runId = await replayed(callbacks(), id, { callbackId: `${id}-again` })
      assert.equal((await callbacks().describe(`${id}-again`)).info.runId, runId)
    }
  })

  test('is refused while the callback runs', async () => {
    await closedRun(callbacks(), 'source')
    const runId = await callbacks().startRunning('busy', { requestId: 'start-1' })
    const running = errorOf(await replay(callbacks(), 'busy', {}, 400))
    assert.equal(running.code, 9)
    assertSays(running, runId, 'running')
    const taken = errorOf(await replay(callbacks(), 'source', { callbackId: 'busy' }, 409))
    assert.equal(taken.code, 6)
    assert.deepEqual(taken.details, [alreadyStarted(runId, 'start-1')])
  })

  test('asks the rules of addresses again', async () => {
    const own = await callbacks().another('stricter')
    await closedRun(own, 'old')
    await own.api.patch(own.base, 200, { body: { allowedAddresses: [{ pattern: '*.example.org' }] } })
    const refused = errorOf(await replay(own, 'old', {}, 400))
    assert.equal(refused.code, 3)
    assertSays(refused, 'does not match')
    await own.api.patch(own.base, 200, { body: { enabled: false } })
    assert.equal(errorOf(await replay(own, 'old', {}, 501)).code, 12)
    assert.equal((await own.count()).body.count, '1')
  })

  test('is refused for what is not there and for what cannot be', async () => {
    await closedRun(callbacks(), 'there')
    for (const [id, body, status, code, word] of [
      ['nowhere', {}, 404, 5, 'nowhere'],
      ['there', { runId: NOBODY }, 404, 5, 'there'],
      ['there', { runId: 'x' }, 400, 3, 'run_id'],
      ['there', { requestId: 'x'.repeat(1001) }, 400, 3, 'request_id'],
      ['there', { callbackId: 'x'.repeat(1001) }, 400, 3, 'callback_id'],
      ['there', { callback: {} }, 400, 3, 'callback'],
    ] as const) {
      const error = errorOf(await replay(callbacks(), id, body, status))
      assert.equal(error.code, code)
      assertSays(error, word)
    }
    errorOf(await callbacks().api.post('/namespaces/nowhere/callbacks/there/replay', 404, { body: {} }))
  })

  test('works under both paths', async () => {
    await closedRun(callbacks(), 'a/b')
    const { body } = await callbacks().api.post(`/api/v1${callbacks().at('a/b', '/replay')}`, 200, { body: {} })
    assert.equal((await callbacks().describe('a/b')).info.runId, body.runId)
  })
})
