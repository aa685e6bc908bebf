import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_SERVER } from '../support/no-server.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { assertSays, type CallbacksApi, eachServer, errorOf, NOBODY } from './callbacks-api.ts'

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?Z$/
const QUICK = { initialInterval: '0.001s', maximumInterval: '0.001s' }

function attemptsOf(callbacks: CallbacksApi, id: string, query: Record<string, string> = {}, status = 200) {
  return callbacks.api.get(callbacks.at(id, `/attempts?${new URLSearchParams(query)}`), status)
}

/** A run that fails so often, and is closed then. */
async function failing(callbacks: CallbacksApi, id: string, url: string, maximumAttempts: number): Promise<string> {
  const retryPolicy = { ...QUICK, maximumAttempts }
  const runId = await callbacks.startRun(id, { callback: { nexus: { url } }, retryPolicy })
  // Many attempts may take longer than a poll waits.
  while ((await callbacks.poll(id, `?runId=${runId}`)).body.runId === undefined);
  return runId
}

eachServer(
  'the attempts of a run',
  (callbacks) => {
    test('are told newest first, with what came of each', async () => {
      await using receiver = await startReceiver()
      receiver.script(
        { status: 503, body: 'try later' },
        { status: 500, headers: { 'content-type': 'application/json' }, body: handlerError('too busy') },
      )
      await callbacks().startRun('told', { callback: { nexus: { url: receiver.url } }, retryPolicy: QUICK })
      await callbacks().poll('told')
      const { body } = await attemptsOf(callbacks(), 'told')
      assert.deepEqual(Object.keys(body), ['attempts'])
      const shown = body.attempts.map(({ startTime, endTime, ...rest }: Record<string, string>) => {
        assert.match(String(startTime), RFC_3339)
        assert.ok((endTime as string) >= (startTime as string))
        return rest
      })
      const address = '127.0.0.1'
      assert.deepEqual(shown, [
        { attempt: 3, outcome: 'success', statusCode: 200, address },
        {
          attempt: 2,
          outcome: 'handler-error:RESOURCE_EXHAUSTED',
          statusCode: 500,
          errorType: 'RESOURCE_EXHAUSTED',
          message: 'handler error (RESOURCE_EXHAUSTED): too busy',
          responseSnippet: handlerError('too busy'),
          address,
        },
        {
          attempt: 1,
          outcome: 'handler-error:UNAVAILABLE',
          statusCode: 503,
          errorType: 'UNAVAILABLE',
          message: 'handler error (UNAVAILABLE)',
          responseSnippet: 'try later',
          address,
        },
      ])
    })

    test('have the type of error that the receiver names, whatever it is', async () => {
      const metadata = { type: 'nexus.HandlerError' }
      const answerOf = (type: string) =>
        JSON.stringify({ message: 'no', metadata, details: { type, retryableOverride: false } })
      for (const [id, type, shown] of [
        ['odd', 'OUT_OF_LUCK', 'OUT_OF_LUCK'],
        ['long', 'x'.repeat(500), 'x'.repeat(128)],
      ] as const) {
        const headers = { 'content-type': 'application/json' }
        await using receiver = await startReceiver({ answer: { status: 500, headers, body: answerOf(type) } })
        await callbacks().startRun(id, { callback: { nexus: { url: receiver.url } } })
        await callbacks().poll(id)
        const [attempt] = (await attemptsOf(callbacks(), id)).body.attempts
        assert.deepEqual([attempt.outcome, attempt.errorType], [`handler-error:${shown}`, shown])
        const sent = { body: { callback: { nexus: { url: receiver.url } } } }
        const { body: tested } = await callbacks().api.post(`${callbacks().base}/callback-tests`, 200, sent)
        assert.equal(tested.outcome, `handler-error:${shown}`)
      }
    })

    test('are none before the first one ended', async () => {
      await callbacks().startRunning('none')
      await callbacks().silent.requests.next()
      assert.deepEqual((await attemptsOf(callbacks(), 'none')).body, {})
    })

    test('that no receiver answered say why', async () => {
      await failing(callbacks(), 'refused', NO_SERVER, 1)
      const [attempt] = (await attemptsOf(callbacks(), 'refused')).body.attempts
      assert.deepEqual([attempt.outcome, attempt.statusCode], ['unknown-error', undefined])
      assert.match(attempt.message, /ECONNREFUSED/)
    })

    test('are kept up to the last hundred, and listed page by page', async () => {
      await using receiver = await startReceiver({ answer: { status: 503 } })
      await failing(callbacks(), 'many', receiver.url, 103)
      const numbers: number[] = []
      const sizes: number[] = []
      let nextPageToken = ''
      do {
        const { body } = await attemptsOf(callbacks(), 'many', { pageSize: '40', nextPageToken })
        sizes.push(body.attempts.length)
        numbers.push(...body.attempts.map(({ attempt }: { attempt: number }) => attempt))
        nextPageToken = body.nextPageToken ?? ''
      } while (nextPageToken !== '')
      assert.deepEqual(sizes, [40, 40, 20])
      assert.deepEqual(
        numbers,
        Array.from({ length: 100 }, (_, n) => 103 - n),
      )
      for (const pageSize of ['0', '-1', '100', '1000']) {
        const { body } = await attemptsOf(callbacks(), 'many', { pageSize })
        assert.deepEqual([body.attempts.length, body.nextPageToken], [100, undefined])
      }
    })

    test('are those of the run that is named, without a name of the latest', async () => {
      await using receiver = await startReceiver({ answer: { status: 503 } })
      const first = await failing(callbacks(), 'twice', receiver.url, 3)
      const second = await failing(callbacks(), 'twice', receiver.url, 2)
      const count = async (query: Record<string, string>) =>
        (await attemptsOf(callbacks(), 'twice', query)).body.attempts.length
      assert.deepEqual([await count({}), await count({ runId: first }), await count({ runId: second })], [2, 3, 2])
      const { body } = await attemptsOf(callbacks(), 'twice', { runId: first, pageSize: '1' })
      const { nextPageToken } = body
      const next = await attemptsOf(callbacks(), 'twice', { runId: first, pageSize: '1', nextPageToken })
      assert.equal(next.body.attempts[0].attempt, 2)
      const misused: Record<string, string>[] = [{ nextPageToken }, { runId: first, nextPageToken: 'AAAA' }]
      for (const query of misused) {
        const error = errorOf(await attemptsOf(callbacks(), 'twice', query, 400))
        assert.equal(error.code, 3)
        assertSays(error, 'next_page_token')
      }
    })

    test('are refused for what is not there and for what cannot be', async () => {
      await callbacks().startRunning('there')
      for (const [path, status, code, word] of [
        [callbacks().at('nowhere', '/attempts'), 404, 5, 'nowhere'],
        [callbacks().at('there', `/attempts?runId=${NOBODY}`), 404, 5, 'there'],
        [callbacks().at('there', '/attempts?runId=x'), 400, 3, 'run_id'],
        [callbacks().at('x'.repeat(1001), '/attempts'), 400, 3, 'callback_id'],
        ['/namespaces/nowhere/callbacks/there/attempts', 404, 5, 'namespace'],
      ] as const) {
        const error = errorOf(await callbacks().api.get(path, status))
        assert.equal(error.code, code)
        assertSays(error, word)
      }
    })

    test('are told under both paths, and as messages', async () => {
      await callbacks().startRun('both')
      await callbacks().poll('both')
      const plain = await attemptsOf(callbacks(), 'both')
      const prefixed = await callbacks().api.get(`/api/v1${callbacks().at('both', '/attempts')}`, 200)
      assert.deepEqual(prefixed.body, plain.body)
      const binary = await callbacks().api.get(callbacks().at('both', '/attempts'), 200, {
        headers: { accept: 'application/x-protobuf' },
      })
      assert.equal(binary.headers.get('content-type'), 'application/x-protobuf')
    })
  },
  { env: { COMMONPLACE_CALLBACKS__BREAKER__CONSECUTIVE_FAILURES: '1000' } },
)

function handlerError(message: string): string {
  return JSON.stringify({
    message,
    metadata: { type: 'nexus.HandlerError' },
    details: { type: 'RESOURCE_EXHAUSTED' },
  })
}
