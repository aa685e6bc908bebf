import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyCallback } from '../../src/callbacks/receiver-kit/verify.ts'
import { NO_SERVER } from '../support/no-server.ts'
import { type Receiver, socketClosed, startReceiver } from '../support/receivers/receiver.ts'
import { assertSays, type CallbacksApi, eachServer, errorOf, type Wish } from './callbacks-api.ts'
import { signingSecret } from './namespace-world.ts'

function send(callbacks: CallbacksApi, body: Wish, status = 200) {
  return callbacks.api.post(`${callbacks.base}/callback-tests`, status, { body })
}

/** Until it is sent: on a busy machine its time may be over before, and the caller is told to repeat it. */
async function sent(callbacks: CallbacksApi, receiver: Receiver) {
  for (;;) {
    try {
      return await send(callbacks, { callback: { nexus: { url: receiver.url } } })
    } catch (error) {
      if (!/answered 503: .*cannot send right now/.test((error as Error).message) || receiver.requests.all.length > 0)
        throw error
    }
  }
}

eachServer('sending a test', (callbacks) => {
  test('makes one attempt now and answers what its record would hold', async () => {
    await using receiver = await startReceiver({ answer: { status: 202, body: 'thanks' } })
    const nexus = { url: `${receiver.url}/hook?a=b`, header: { 'X-Tenant': 'a' }, token: 't-1' }
    const { body } = await send(callbacks(), { callback: { nexus }, completion: { success: { paid: true } } })
    const { startTime, endTime, ...rest } = body
    assert.ok(endTime >= startTime)
    const answered = { outcome: 'success', statusCode: 202, responseSnippet: 'thanks', address: '127.0.0.1' }
    assert.deepEqual(rest, { attempt: 1, ...answered })
    const request = await receiver.requests.next()
    assert.deepEqual([request.method, request.path, request.body.toString()], ['POST', '/hook?a=b', '{"paid":true}'])
    const { headers } = request
    assert.deepEqual(
      [
        headers['x-tenant'],
        headers['temporal-callback-token'],
        headers['nexus-operation-state'],
        headers['webhook-attempt'],
      ],
      ['a', 't-1', 'succeeded', '1'],
    )
    assert.match(String(headers['webhook-id']), /^[0-9a-f-]{36}$/)
  })

  test('keeps nothing of it', async () => {
    const own = await callbacks().another('tests-only')
    await using receiver = await startReceiver({ answer: { status: 500 } })
    for (let n = 0; n < 8; n++) await send(own, { callback: { nexus: { url: receiver.url } } })
    assert.deepEqual((await own.count()).body, {})
    assert.deepEqual((await own.api.get(`${own.base}/destinations`, 200)).body, {})
    // Nor does it open a breaker.
    await own.startRun('after', { callback: { nexus: { url: receiver.url } } })
    assert.notEqual((await own.describe('after')).info.state, 'CALLBACK_STATE_BLOCKED')
  })

  test('sends an empty success when no completion is given, and failures as they are', async () => {
    await using receiver = await startReceiver()
    const callback = { nexus: { url: receiver.url } }
    await send(callbacks(), { callback })
    const plain = await receiver.requests.next()
    assert.deepEqual([plain.body.length, plain.headers['nexus-operation-state']], [0, 'succeeded'])
    await send(callbacks(), { callback, completion: { failure: { message: 'no', canceledFailureInfo: {} } } })
    const canceled = await receiver.requests.next()
    assert.equal(canceled.headers['nexus-operation-state'], 'canceled')
    assert.equal(JSON.parse(canceled.body.toString()).message, 'no')
  })

  test('is signed as attempts of the namespace are', async () => {
    const own = await callbacks().another('signed-tests', { signing: { secrets: [signingSecret(1)] } })
    await using receiver = await startReceiver()
    await send(own, { callback: { nexus: { url: receiver.url } }, completion: { success: 7 } })
    const { headers, body } = await receiver.requests.next()
    assert.ok(verifyCallback({ headers, body, secrets: [signingSecret(1)] }))
  })

  test('answers what went wrong, with success as the status of its own answer', async () => {
    await using receiver = await startReceiver({ answer: { status: 404, body: 'no such hook' } })
    const refused = (await send(callbacks(), { callback: { nexus: { url: receiver.url } } })).body
    assert.deepEqual(
      [refused.outcome, refused.statusCode, refused.errorType, refused.responseSnippet],
      ['handler-error:NOT_FOUND', 404, 'NOT_FOUND', 'no such hook'],
    )
    const unreachable = (await send(callbacks(), { callback: { nexus: { url: NO_SERVER } } })).body
    assert.equal(unreachable.outcome, 'unknown-error')
    assert.match(unreachable.message, /ECONNREFUSED/)
    const own = await callbacks().another('hasty', { requestTimeout: '30ms' })
    await using silent = await startReceiver({ answer: null })
    assert.equal((await sent(own, silent)).body.outcome, 'request-timeout')
  })

  test('keeps to the rules of addresses', async () => {
    const own = await callbacks().another('strict-tests', { allowedAddresses: [{ pattern: '*.example.org' }] })
    for (const [world, url, word] of [
      [own, 'https://elsewhere.example.com', 'does not match'],
      [own, 'http://a.example.org', 'insecure'],
      [callbacks(), 'http://10.0.0.1/x', 'not allowed'],
      [callbacks(), 'http://a:b@127.0.0.1/x', 'user'],
      [callbacks(), 'http://127.0.0.1:25/x', 'port'],
      [callbacks(), 'ftp://127.0.0.1/x', 'scheme'],
    ] as const) {
      const error = errorOf(await send(world, { callback: { nexus: { url } } }, 400))
      assert.equal(error.code, 3)
      assertSays(error, word)
    }
  })

  test('is refused for what cannot be', async () => {
    const callback = { nexus: { url: callbacks().receiver.url } }
    for (const [body, status, code, word] of [
      [{}, 400, 3, 'callback'],
      [{ callback: {} }, 501, 12, 'variant'],
      [{ callback: { internal: { data: '' } } }, 400, 3, 'internal'],
      [{ callback, completion: {} }, 400, 3, 'completion'],
      [{ callback, completion: { success: 'x'.repeat(2_100_000) } }, 400, 3, 'size exceeds limit'],
      [{ callback: { nexus: { ...callback.nexus, header: { 'a b': 'c' } } } }, 400, 3, 'header'],
      [{ callback, identity: 'x' }, 400, 3, 'identity'],
    ] as const) {
      const error = errorOf(await send(callbacks(), body, status))
      assert.equal(error.code, code)
      assertSays(error, word)
    }
    errorOf(await callbacks().api.post('/namespaces/nowhere/callback-tests', 404, { body: { callback } }))
    const own = await callbacks().another('switched-off', { enabled: false })
    assert.equal(errorOf(await send(own, { callback }, 501)).code, 12)
  })

  test('is broken off when its caller goes away', async () => {
    await using silent = await startReceiver({ answer: null })
    const gone = new AbortController()
    const { server, base } = callbacks()
    const asking = fetch(`${server.url}/api/v1${base}/callback-tests`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ callback: { nexus: { url: silent.url } } }),
      signal: gone.signal,
    })
    await silent.requests.next()
    const [socket] = silent.connections.all
    assert.ok(socket)
    gone.abort()
    await assert.rejects(asking)
    await socketClosed(socket)
  })
})
