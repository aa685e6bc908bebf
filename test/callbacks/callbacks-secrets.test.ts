import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { create, toBinary } from '@bufbuild/protobuf'
import { StartCallbackExecutionRequestSchema } from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { startReceiver } from '../support/receivers/receiver.ts'
import { CallbacksApi } from './callbacks-api.ts'

const TOKEN = 'token-5ecret-cafe'
const HEADER_VALUE = 'Bearer header-5ecret-beef'
const COMPLETION = 'completion-5ecret-f00d'

function filesOf(directory: string): Buffer {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))))
}

test('a token is in no answer, no log and no file, and header values are in no log and no file', async () => {
  await using callbacks = await CallbacksApi.start({ env: { COMMONPLACE_LOG_LEVEL: 'trace' } })
  await using failing = await startReceiver({ answer: { status: 503, body: 'no' } })
  const { api } = callbacks
  const answers: string[] = []
  const ask = async (method: string, path: string, status: number, body?: unknown) => {
    const headers: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
    const { text } = await api.call(method, path, status, { body, headers })
    answers.push(text)
  }
  const nexus = (url: string) => ({ url, token: TOKEN, header: { authorization: HEADER_VALUE } })
  const wish = (url: string, more = {}) =>
    callbacks.wish({ callback: { nexus: nexus(url) }, completion: { success: COMPLETION }, ...more })

  // Every way a run can go, and every way a request can be wrong, with the secrets in it.
  await ask('POST', callbacks.at('delivered'), 200, wish(callbacks.receiver.url))
  await callbacks.closed('delivered')
  await ask('GET', callbacks.at('delivered', '/outcome'), 200)
  const { headers } = await callbacks.receiver.requests.next()
  assert.deepEqual([headers['temporal-callback-token'], headers.authorization], [TOKEN, HEADER_VALUE])
  await ask('POST', callbacks.at('failing'), 200, wish(failing.url, { retryPolicy: { initialInterval: '3600s' } }))
  await callbacks.untilState('failing', 'BACKING_OFF')
  await ask('POST', callbacks.at('running'), 200, wish(callbacks.silent.url))
  await ask('POST', callbacks.at('running'), 409, wish(callbacks.silent.url))
  await ask('POST', callbacks.at('refused'), 400, wish('ftp://example.org'))
  await ask('POST', callbacks.at('refused'), 400, { ...wish('http://127.0.0.1'), nothing: TOKEN })
  await ask('POST', callbacks.at('refused'), 400, wish('http://127.0.0.1', { identity: 7 }))
  await ask('POST', callbacks.at('refused'), 400, wish('http://127.0.0.1', { completion: {} }))
  await ask('POST', callbacks.at('refused'), 400, JSON.stringify(wish('http://127.0.0.1')).slice(0, -1))
  await ask('POST', '/namespaces/nowhere/callbacks/refused', 404, wish('http://127.0.0.1'))
  for (const id of ['delivered', 'failing', 'running']) {
    await ask('GET', callbacks.at(id, '?includeInput&includeOutcome'), 200)
    await ask('GET', callbacks.at(id, '?includeInput&noPayloadShorthand'), 200)
  }
  await ask('GET', `${callbacks.base}/callbacks`, 200)
  await ask('POST', callbacks.at('running', '/terminate'), 200, {})
  const binary = await fetch(new URL(callbacks.at('failing'), callbacks.server.url), {
    headers: { authorization: `Bearer ${callbacks.server.adminToken}`, accept: 'application/x-protobuf' },
  })
  answers.push(Buffer.from(await binary.arrayBuffer()).toString('latin1'))

  const said = answers.join('\n')
  assert.ok(!said.includes(TOKEN) && !said.includes(btoa(TOKEN)))
  assert.ok(said.includes(HEADER_VALUE), 'header values are shown to who may read')
  await callbacks.stop()
  const output = callbacks.server.output()
  assert.ok(output.length > 1_000)
  for (const secret of [TOKEN, HEADER_VALUE, COMPLETION, 'header-5ecret']) assert.ok(!output.includes(secret), secret)

  const files = filesOf(callbacks.server.dataDir)
  assert.ok(files.includes('failing'), 'the files were found')
  for (const secret of [TOKEN, HEADER_VALUE, 'header-5ecret']) assert.ok(!files.includes(secret), secret)
})

test('nor are they anywhere when a receiver repeats them in its answers', async () => {
  // The first failure already opens the breaker, of which the log tells.
  const env = { COMMONPLACE_LOG_LEVEL: 'trace', COMMONPLACE_CALLBACKS__BREAKER__CONSECUTIVE_FAILURES: '0' }
  await using callbacks = await CallbacksApi.start({ env })
  const said = { message: `${TOKEN} and ${HEADER_VALUE} do not fit ${COMPLETION}`, seen: { token: TOKEN } }
  const answer = { status: 503, body: JSON.stringify(said), headers: { 'content-type': 'application/json' } }
  await using echoing = await startReceiver({ answer })
  const nexus = { url: echoing.url, token: TOKEN, header: { authorization: HEADER_VALUE } }
  const completion = { success: COMPLETION }
  const once = { maximumAttempts: 1 }
  const wish = callbacks.wish({ callback: { nexus }, completion, retryPolicy: once })
  await callbacks.api.post(callbacks.at('echoed'), 200, { body: wish })
  await callbacks.closed('echoed')
  const asked = ['', '/outcome', '/attempts'].map((rest) => callbacks.at('echoed', rest))
  const answers = [`${callbacks.base}/destinations`, ...asked].map(
    async (path) => (await callbacks.api.get(path, 200)).text,
  )
  const sent = await callbacks.api.post(`${callbacks.base}/callback-tests`, 200, {
    body: { callback: { nexus }, completion },
  })
  for (const text of [sent.text, ...(await Promise.all(answers))]) {
    assert.ok(text.includes('do not fit'), 'what the receiver said is shown')
    assert.ok(!text.includes(TOKEN) && text.includes('[redacted]'), text)
  }
  await callbacks.stop()
  const output = callbacks.server.output()
  assert.ok(output.includes('destination.unhealthy'))
  const files = filesOf(callbacks.server.dataDir)
  for (const secret of [TOKEN, HEADER_VALUE, 'header-5ecret']) {
    assert.ok(!output.includes(secret) && !files.includes(secret), secret)
  }
  assert.ok(!output.includes(COMPLETION))
})

test('nor are they in the files in the binary form in which they came', async () => {
  await using callbacks = await CallbacksApi.start()
  const request = create(StartCallbackExecutionRequestSchema, {
    identity: 'test',
    callback: {
      variant: {
        case: 'nexus',
        value: { url: callbacks.silent.url, token: TOKEN, header: { 'x-api-key': HEADER_VALUE } },
      },
    },
    input: { case: 'completion', value: { result: { case: 'success', value: {} } } },
  })
  await callbacks.api.post(callbacks.at('binary'), 200, {
    body: toBinary(StartCallbackExecutionRequestSchema, request),
    headers: { 'content-type': 'application/x-protobuf' },
  })
  await callbacks.stop()
  const files = filesOf(callbacks.server.dataDir)
  for (const secret of [TOKEN, HEADER_VALUE, 'x-api-key']) assert.ok(!files.includes(secret), secret)
})
