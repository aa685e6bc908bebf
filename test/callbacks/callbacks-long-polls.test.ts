import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type ClientRequest, request } from 'node:http'
import { test } from 'node:test'
import { startReceiver } from '../support/receivers/receiver.ts'
import { startServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'
import { assertSays, CallbacksApi, eachServer, errorOf } from './callbacks-api.ts'

/** As a caller sends it. */
const withToken = (runId: string, token: string, more = '') =>
  `?runId=${runId}&longPollToken=${encodeURIComponent(token)}${more}`

eachServer('long polls', (callbacks) => {
  test('answer when the run has changed since the token, with the newest state', async () => {
    await using receiver = await startReceiver({ answer: null })
    await callbacks().startRun('changing', { callback: { nexus: { url: receiver.url } } })
    const { info, longPollToken } = await callbacks().describe('changing')
    const query = withToken(info.runId, longPollToken as string, '&includeOutcome=true')
    const polled = callbacks().describe('changing', query)
    await callbacks().terminate('changing', { reason: 'enough' })
    const { info: changed, outcome, ...others } = await polled
    assert.deepEqual([changed.state, changed.stateTransitionCount], ['CALLBACK_STATE_TERMINATED', '2'])
    assert.equal(outcome?.failure?.message, 'enough')
    assert.deepEqual(others, {})
    // What changed before the question is answered at once.
    assert.deepEqual((await callbacks().describe('changing', query)).info, changed)
  })

  test('lead from one change to the next until the run is closed', async () => {
    await using receiver = await startReceiver()
    receiver.script({ status: 503 }, { status: 503 })
    await callbacks().startRun('followed', {
      callback: { nexus: { url: receiver.url } },
      retryPolicy: { initialInterval: '0.02s', maximumInterval: '0.02s' },
    })
    const counts: number[] = []
    let query = ''
    for (;;) {
      const { info, longPollToken } = await callbacks().describe('followed', query)
      counts.push(Number(info.stateTransitionCount))
      if (longPollToken === undefined) break
      query = withToken(info.runId, longPollToken)
    }
    // Changes may be skipped, but never come twice or in another order.
    assert.deepEqual(
      counts,
      [...new Set(counts)].sort((a, b) => a - b),
    )
    assert.equal(counts.at(-1), 6)
  })

  test('for the outcome wait for the run that was the latest, and answer its end', async () => {
    const runId = await callbacks().startRunning('polled')
    await callbacks().silent.requests.next()
    const polled = callbacks().poll('polled')
    const byId = callbacks().poll('polled', `?runId=${runId}`)
    await callbacks().terminate('polled', { reason: 'first' })
    await callbacks().startRunning('polled')
    const outcome = { failure: { message: 'first', terminatedFailureInfo: {} } }
    // Without an id it is either of the two, depending on who was first; it is never mixed.
    await callbacks().terminate('polled', { reason: 'second' })
    const answers = [(await polled).body, (await byId).body]
    assert.deepEqual(answers[1], { runId, outcome })
    assert.equal(answers[0].outcome.failure.message, answers[0].runId === runId ? 'first' : 'second')
  })

  test('end with NOT_FOUND when the run is deleted', async () => {
    const runId = await callbacks().startRunning('vanishing')
    await callbacks().silent.requests.next()
    const { longPollToken } = await callbacks().describe('vanishing')
    const { api } = callbacks()
    const [described, polled] = [
      api.get(callbacks().at('vanishing', withToken(runId, longPollToken as string)), 404),
      callbacks().poll('vanishing', `?runId=${runId}`, 404),
    ]
    await callbacks().delete('vanishing')
    for (const answer of [described, polled]) {
      const error = errorOf(await answer)
      assert.equal(error.code, 5)
      assertSays(error, 'vanishing')
    }
    errorOf(await callbacks().poll('vanishing', '', 404))
  })

  test('answer the empty message when their time is over, be it ours or the caller’s', async () => {
    // This namespace waits for an instant only.
    const short = await callbacks().another('short', { longPoll: { timeout: '0.05s' } })
    await short.startRunning('endless')
    const { info, longPollToken } = await short.describe('endless')
    assert.deepEqual(await short.describe('endless', withToken(info.runId, longPollToken as string)), {})
    assert.deepEqual((await short.poll('endless')).body, {})
    await callbacks().startRunning('endless')
    const impatient: Record<string, string>[] = [
      { 'grpc-timeout': '40m' },
      { 'grpc-timeout': '1S' },
      { 'grpc-timeout': '30000000n' },
      { 'request-timeout': '50ms' },
      { 'request-timeout': '1040ms', 'grpc-timeout': '1H' },
      { 'request-timeout': '0' },
    ]
    for (const headers of impatient) {
      // Whose credentials are known is told how long there is to wait; looking them up may take all of that time.
      await callbacks().describe('endless')
      assert.deepEqual((await callbacks().poll('endless', '', 200, { headers })).body, {})
    }
  })

  test('refuse tokens of another run, callback, namespace or making, and those without a run id', async () => {
    const runId = await callbacks().startRunning('tokened')
    const other = await callbacks().startRunning('tokened-2')
    const { longPollToken } = await callbacks().describe('tokened')
    const token = longPollToken as string
    const elsewhere = await callbacks().another(`elsewhere-${runId}`)
    const { api } = callbacks()
    const ask = async (path: string) => errorOf(await api.get(path, 400))
    for (const path of [
      callbacks().at('tokened-2', withToken(other, token)),
      callbacks().at('tokened-2', withToken(runId, token)),
      callbacks().at('tokened', withToken(other, token)),
      elsewhere.at('tokened', withToken(runId, token)),
      callbacks().at('tokened', withToken(runId, 'AAAA')),
      callbacks().at('tokened', withToken(runId, `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)),
    ]) {
      const error = await ask(path)
      assert.equal(error.code, 3)
      assertSays(error, 'long_poll_token')
    }
    assertSays(await ask(callbacks().at('tokened', withToken(runId, 'not base64!'))), 'longPollToken', 'base64')
    assertSays(await ask(callbacks().at('tokened', `?longPollToken=${encodeURIComponent(token)}`)), 'run_id')
    // A token of a run that is gone is a good token of a run that is not found.
    await callbacks().delete('tokened')
    errorOf(await api.get(callbacks().at('tokened', withToken(runId, token)), 404))
  })

  test('take a token in the other alphabet, without padding, and with its plus signs as blanks', async () => {
    const runId = await callbacks().startRunning('alphabet')
    const { longPollToken } = await callbacks().describe('alphabet')
    await callbacks().terminate('alphabet')
    const token = Buffer.from(longPollToken as string, 'base64')
    // Written out: who parses an address drops a blank at its end, and a token may end with one.
    for (const text of [token.toString('base64url'), token.toString('base64').replaceAll('+', '%20')]) {
      const { info } = await callbacks().describe('alphabet', `?runId=${runId}&longPollToken=${text}`)
      assert.equal(info.state, 'CALLBACK_STATE_TERMINATED')
    }
  })

  test('are closed runs’ outcomes at once, and need no place among those who wait', async () => {
    const none = await callbacks().another('none', { maxOpenLongPolls: 0 })
    await none.startRunning('quick')
    const refused = await none.poll('quick', '', 429)
    assert.equal(errorOf(refused).code, 8)
    assert.equal(refused.headers.get('retry-after'), '1')
    await none.terminate('quick', { reason: 'over' })
    assert.equal((await none.poll('quick')).body.outcome.failure.message, 'over')
  })
})

test('a token outlives the server that made it', async () => {
  await using receiver = await startReceiver({ answer: null })
  const first = await startServer()
  const before = client(first)
  const path = '/namespaces/default/callbacks/kept'
  const body = { identity: 'a', callback: { nexus: { url: receiver.url } }, completion: { success: 1 } }
  await before.post(path, 200, { body })
  const { info, longPollToken } = (await before.get(path, 200)).body
  await before.post(`${path}/terminate`, 200)
  await first.stop()
  await using second = await startServer({ dataDir: first.dataDir })
  const { body: after } = await client(second).get(path + withToken(info.runId, longPollToken), 200)
  assert.equal(after.info.state, 'CALLBACK_STATE_TERMINATED')
})

test('a server that stops answers those who wait with the empty message, over both kinds of poll', async () => {
  const callbacks = await CallbacksApi.start()
  const runId = await callbacks.startRunning('waiting')
  const { longPollToken } = await callbacks.describe('waiting')
  const paths = [
    callbacks.at('waiting', '/outcome'),
    callbacks.at('waiting', withToken(runId, longPollToken as string)),
  ]
  const answers: Promise<unknown>[] = []
  for (const path of paths) {
    // The second request goes over a connection that the server has had to do with before.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await answerTo(ask(callbacks, agent, callbacks.at('waiting')))
    const call = ask(callbacks, agent, path)
    answers.push(answerTo(call))
    await once(call, 'finish')
  }
  // Whoever asks later than they did is answered: they have been heard.
  await callbacks.describe('waiting')
  const stopped = callbacks.server.stop()
  assert.deepEqual(await Promise.all(answers), [
    [200, '{}'],
    [200, '{}'],
  ])
  await callbacks.silent.stop()
  assert.deepEqual(await stopped, { status: 0, signal: null })
  await callbacks.receiver.stop()
})

function ask({ server }: CallbacksApi, agent: Agent, path: string): ClientRequest {
  const headers = { authorization: `Bearer ${server.adminToken}` }
  return request(new URL(path, server.url), { agent, headers }).end()
}

async function answerTo(call: ClientRequest): Promise<[number, string]> {
  const [response] = await once(call, 'response')
  return [response.statusCode, Buffer.concat(await response.toArray()).toString()]
}
