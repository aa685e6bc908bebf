import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { parseId } from '../../src/platform/ids/uuid.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { alreadyStarted, assertSays, eachServer, errorOf } from './callbacks-api.ts'

eachServer('starting a callback execution', (callbacks) => {
  test('answers a new run id at once and delivers what it was given', async () => {
    const { api, receiver, at } = { ...callbacks(), at: callbacks().at('order-42') }
    const nexus = { url: `${receiver.url}/hooks/42?x=1`, header: { 'X-Tenant': 'a' }, token: 't-1' }
    const { body, headers } = await api.post(`/api/v1${at}`, 200, {
      body: {
        identity: 'billing',
        requestId: 'first',
        callback: { nexus },
        scheduleToCloseTimeout: '86400s',
        completion: { success: { paid: true } },
      },
    })
    assert.ok(parseId(body.runId))
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    const delivered = await receiver.requests.next()
    assert.deepEqual([delivered.method, delivered.path], ['POST', '/hooks/42?x=1'])
    assert.equal(delivered.body.toString(), '{"paid":true}')
    assert.deepEqual(
      ['x-tenant', 'temporal-callback-token', 'webhook-id'].map((name) => delivered.headers[name]),
      ['a', 't-1', body.runId],
    )
    assert.deepEqual(await callbacks().closed('order-42'), { runId: body.runId, outcome: { success: {} } })
  })

  test('with the request id of the latest run answers that run, running or closed, whatever else is asked for', async () => {
    const running = await callbacks().startRunning('again', { requestId: 'r-1' })
    assert.equal(await callbacks().startRun('again', { requestId: 'r-1' }), running)
    await callbacks().terminate('again')
    assert.equal(
      await callbacks().startRun('again', { requestId: 'r-1', completion: { failure: { message: 'other' } } }),
      running,
    )
    const { info } = await callbacks().describe('again')
    assert.deepEqual([info.runId, info.state], [running, 'CALLBACK_STATE_TERMINATED'])
  })

  test('conflicts with a running run of another request, and says which', async () => {
    const runId = await callbacks().startRunning('taken', { requestId: 'r-1' })
    for (const more of [{ requestId: 'r-2' }, {}]) {
      const error = await callbacks().refusal('taken', callbacks().wish(more), 409)
      assert.equal(error.code, 6)
      assertSays(error, 'taken', runId)
      assert.deepEqual(error.details, [alreadyStarted(runId, 'r-1')])
    }
  })

  test('names the request id that the server made up where the first caller gave none', async () => {
    const runId = await callbacks().startRunning('unnamed')
    const { details } = await callbacks().refusal('unnamed', callbacks().wish(), 409)
    assert.equal(details[0]?.runId, runId)
    assert.ok(parseId(details[0]?.startRequestId as string))
  })

  test('makes a new run when the latest is closed, which is then the latest', async () => {
    const first = await callbacks().startRunning('reused', { requestId: 'r-1' })
    await callbacks().terminate('reused')
    const second = await callbacks().startRunning('reused', { requestId: 'r-2' })
    assert.notEqual(second, first)
    assert.equal((await callbacks().describe('reused')).info.runId, second)
    assert.equal((await callbacks().describe('reused', `?runId=${first}`)).info.runId, first)
    // The memory of the first request ended with its being the latest.
    const { details } = await callbacks().refusal('reused', callbacks().wish({ requestId: 'r-1' }), 409)
    assert.deepEqual(details, [alreadyStarted(second, 'r-2')])
  })

  test('of many at once makes one run, and all others conflict with it or are the same request', async () => {
    const wishes = Array.from({ length: 20 }, (_, n) => ({ requestId: `r-${n % 4}` }))
    const silent = { callback: { nexus: { url: callbacks().silent.url } } }
    const answers = await Promise.all(
      wishes.map(async (wish) => {
        const response = await fetch(new URL(callbacks().at('raced'), callbacks().server.url), {
          method: 'POST',
          headers: {
            authorization: `Bearer ${callbacks().server.adminToken}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify(callbacks().wish({ ...wish, ...silent })),
        })
        return { ...wish, status: response.status, body: (await response.json()) as Record<string, never> }
      }),
    )
    const winner = answers.find(({ status }) => status === 200)
    assert.ok(winner)
    for (const { status, requestId, body } of answers) {
      if (requestId === winner.requestId) assert.deepEqual([status, body], [200, winner.body])
      else {
        assert.equal(status, 409)
        assert.deepEqual(body.details, [alreadyStarted(winner.body.runId as unknown as string, winner.requestId)])
      }
    }
    assert.equal((await callbacks().count('CallbackId = "raced"')).body.count, '1')
  })

  test('keeps the id as it is: slashes, percent signs, blanks and any letters', async () => {
    for (const id of ['a/b/c', '50%', '%2F', 'a b+c', 'Grüße 🎉', 'ÄÖÜ/../x', '?&=#', '.', 'outcome', 'x/terminate']) {
      // A dot alone would be taken out of the path by every client.
      const path = id === '.' ? `${callbacks().base}/callbacks/%2E%2E%2F` : callbacks().at(id)
      const wanted = id === '.' ? '../' : id
      const { body } = await callbacks().api.post(path, 200, { body: callbacks().wish() })
      const { info } = (await callbacks().api.get(`${path}?runId=${body.runId}`, 200)).body
      assert.equal(info.callbackId, wanted)
    }
  })

  test('believes the path and not the same fields of the body', async () => {
    const wish = callbacks().wish({ namespace: 'elsewhere', callbackId: 'not-this', callback_id: undefined })
    await callbacks().post('this-one', wish, 200)
    await callbacks().describe('this-one')
    errorOf(await callbacks().api.get(callbacks().at('not-this'), 404))
  })

  test('takes fields by their other spelling, and capped and absent timeouts', async () => {
    const { api } = callbacks()
    const wish = {
      identity: 'test',
      request_id: 'snake',
      callback: { nexus: { url: callbacks().silent.url } },
      schedule_to_close_timeout: '315360000000s',
      completion: { success: null },
    }
    await api.post(callbacks().at('spelled'), 200, { body: wish })
    const { info } = await callbacks().describe('spelled')
    assert.equal(info.scheduleToCloseTimeout, `${100 * 365 * 86_400}s`)
    await callbacks().startRunning('no-timeout', { scheduleToCloseTimeout: '0s' })
    assert.equal((await callbacks().describe('no-timeout')).info.scheduleToCloseTimeout, undefined)
  })

  test('refuses what no index could hold, and takes what every one can, where a namespace allows more', async () => {
    const own = await callbacks().another('roomy', { maxIdLength: 65_536, urlMaxLength: 65_536 })
    // Of chance, so that it cannot be compressed.
    const text = (bytes: number) => randomBytes(bytes).toString('hex').slice(0, bytes)
    const later = { startDelay: '3600s' }
    const at = (host: string) => ({ ...later, callback: { nexus: { url: `http://${host}` } } })
    await own.startRun(text(2000), { ...later, requestId: text(9000) })
    await own.startRun('host', at(text(1990)))
    assertSays(errorOf(await own.post(text(2001), own.wish(), 400)), 'callback_id', '2001', '2000')
    assertSays(errorOf(await own.post('host', own.wish(at(text(3000))), 400)), 'host')
    const replays = `${own.base}/callback-replays`
    assertSays(errorOf(await own.api.post(replays, 400, { body: { requestId: text(2001) } })), 'request_id', '2000')
    await own.api.post(replays, 200, { body: { requestId: text(2000) } })
    await own.startRun('short')
    await own.poll('short')
    const replay = { body: { callbackId: text(2001) } }
    assertSays(errorOf(await own.api.post(own.at('short', '/replay'), 400, replay)), 'callback_id', '2000')
  })

  test('with a retry policy gives up when the attempts are used up', async () => {
    await using failing = await startReceiver({ answer: { status: 503 } })
    const callback = { nexus: { url: failing.url } }
    await callbacks().startRun('one-try', { callback, retryPolicy: { maximumAttempts: 1 } })
    const { failure } = (await callbacks().closed('one-try')).outcome
    assert.match(failure?.message as string, /UNAVAILABLE/)
    assert.deepEqual(failure?.applicationFailureInfo, {})
    assert.equal((await callbacks().describe('one-try')).info.state, 'CALLBACK_STATE_FAILED')
  })

  test('with a delay puts off the first attempt and says until when', async () => {
    await callbacks().startRun('later', { startDelay: '3600s' })
    const { info } = await callbacks().describe('later')
    assert.equal(info.state, 'CALLBACK_STATE_SCHEDULED')
    const delayMs = Date.parse(info.nextAttemptScheduleTime as string) - Date.parse(info.createTime)
    assert.equal(delayMs, 3_600_000)
  })
})
