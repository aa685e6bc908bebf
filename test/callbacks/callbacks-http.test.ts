import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { CallbackExecutionStatus } from '../../src/gen/temporal/api/enums/v1/callback_pb.js'
import {
  CountCallbackExecutionsRequestSchema,
  CountCallbackExecutionsResponseSchema,
  DescribeCallbackExecutionResponseSchema,
  ListCallbackExecutionsResponseSchema,
  PollCallbackExecutionResponseSchema,
  StartCallbackExecutionRequestSchema,
  StartCallbackExecutionResponseSchema,
  TerminateCallbackExecutionRequestSchema,
} from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { announceBody } from '../support/announce-body.ts'
import { assertSays, CallbacksApi, errorOf } from './callbacks-api.ts'

const BINARY = 'application/x-protobuf'
const MIB = 1024 * 1024

let callbacks: CallbacksApi
before(async () => {
  callbacks = await CallbacksApi.start()
})
after(() => callbacks[Symbol.asyncDispose]())

async function call(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Uint8Array<ArrayBuffer>,
) {
  const response = await fetch(new URL(path, callbacks.server.url), {
    method,
    headers: { authorization: `Bearer ${callbacks.server.adminToken}`, ...headers },
    ...(body !== undefined && { body }),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { status: response.status, type: response.headers.get('content-type'), bytes }
}

const bytesOf = <Desc extends DescMessage>(desc: Desc, init: MessageInitShape<Desc>) =>
  toBinary(desc, create(desc, init)) as Uint8Array<ArrayBuffer>

describe('payloads written in short', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const plain = (json: string) => ({ metadata: { encoding: base64('json/plain') }, data: base64(json) })

  test('stand for the value they are, and are written so unless the caller wants them in full', async () => {
    for (const [id, given, full] of [
      ['object', { a: [1, 2] }, plain('{"a":[1,2]}')],
      ['text', 'x', plain('"x"')],
      ['list', [1, null], plain('[1,null]')],
      ['null', null, { metadata: { encoding: base64('binary/null') } }],
    ] as const) {
      await callbacks.startRun(id, { completion: { success: given } })
      assert.deepEqual((await callbacks.describe(id, '?includeInput')).input, { success: given })
      const { input } = await callbacks.describe(id, '?includeInput&noPayloadShorthand')
      assert.deepEqual(input, { success: full })
      await callbacks.startRun(`${id}-full`, { completion: { success: full } })
      assert.deepEqual((await callbacks.describe(`${id}-full`, '?includeInput')).input, { success: given })
    }
  })

  test('keep numbers that JavaScript cannot hold as they were written', async () => {
    const body = JSON.stringify(callbacks.wish({ completion: { success: 'HERE' } }))
    const exact = '{"a":12345678901234567890,"b":1.10,"c":1e400}'
    const options = { body: body.replace('"HERE"', exact), headers: { 'content-type': 'application/json' } }
    await callbacks.api.post(callbacks.at('exact'), 200, options)
    const { text } = await callbacks.api.get(callbacks.at('exact', '?includeInput'), 200)
    assert.ok(text.includes(`"input":{"success":${exact}}`), text)
  })

  test('are not taken for payloads by who says so', async () => {
    const at = callbacks.at('strict', '?noPayloadShorthand=true')
    const error = errorOf(await callbacks.api.post(at, 400, { body: callbacks.wish() }))
    assertSays(error, 'completion.success.paid', 'not a known field')
    const wish = callbacks.wish({ completion: { success: plain('1') } })
    await callbacks.api.post(at, 200, { body: wish })
    // Saying no to it is saying yes.
    await callbacks.api.post(callbacks.at('loose', '?noPayloadShorthand=false'), 200, { body: callbacks.wish() })
  })

  test('of search attributes are returned as they were given', async () => {
    const indexedFields = { CustomKeyword: plain('"k"'), CustomBool: true, CustomDatetime: '2026-01-31T12:00:00Z' }
    await callbacks.startRun('attributes', { searchAttributes: { indexedFields } })
    const { info } = await callbacks.describe('attributes')
    assert.deepEqual(info.searchAttributes?.indexedFields, { ...indexedFields, CustomKeyword: 'k' })
  })
})

describe('messages in binary form', () => {
  test('are taken and given on the same paths', async () => {
    const at = callbacks.at('binary')
    const request = {
      namespace: 'ignored',
      callbackId: 'ignored',
      identity: 'test',
      callback: { variant: { case: 'nexus' as const, value: { url: callbacks.silent.url, token: 't' } } },
      input: {
        case: 'completion' as const,
        value: { result: { case: 'success' as const, value: { data: Uint8Array.of(1, 2) } } },
      },
    }
    const headers = { 'content-type': BINARY, accept: BINARY }
    const started = await call('POST', at, headers, bytesOf(StartCallbackExecutionRequestSchema, request))
    assert.deepEqual([started.status, started.type], [200, BINARY])
    const { runId } = fromBinary(StartCallbackExecutionResponseSchema, started.bytes)
    const described = await call('GET', `${at}?includeInput`, { accept: BINARY })
    const { info, input } = fromBinary(DescribeCallbackExecutionResponseSchema, described.bytes)
    assert.deepEqual([info?.runId, info?.callbackId, info?.status], [runId, 'binary', CallbackExecutionStatus.RUNNING])
    assert.ok(info?.callback?.variant.case === 'nexus' && info.callback.variant.value.token === '')
    assert.ok(input?.result.case === 'success')
    assert.deepEqual([...input.result.value.data], [1, 2])
    const reason = bytesOf(TerminateCallbackExecutionRequestSchema, { reason: 'enough' })
    const ended = await call('POST', `${at}/terminate`, headers, reason)
    assert.deepEqual([ended.status, ended.bytes.length], [200, 0])
    const polled = fromBinary(
      PollCallbackExecutionResponseSchema,
      (await call('GET', `${at}/outcome`, { accept: BINARY })).bytes,
    )
    assert.ok(polled.outcome?.value.case === 'failure' && polled.outcome.value.value.message === 'enough')
    const query = `?query=${encodeURIComponent('CallbackId = "binary"')}`
    const listed = await call('GET', `${callbacks.base}/callbacks${query}`, { accept: `${BINARY}, */*;q=0.1` })
    assert.equal(fromBinary(ListCallbackExecutionsResponseSchema, listed.bytes).executions[0]?.runId, runId)
    const counted = await call('GET', `${callbacks.base}/callback-count${query}`, { accept: BINARY })
    assert.equal(fromBinary(CountCallbackExecutionsResponseSchema, counted.bytes).count, 1n)
    assert.equal((await call('DELETE', at, { accept: BINARY })).bytes.length, 0)
  })

  test('go one way only where only one header says so', async () => {
    const wish = bytesOf(StartCallbackExecutionRequestSchema, {
      identity: 'test',
      callback: { variant: { case: 'nexus', value: { url: callbacks.silent.url } } },
      input: { case: 'completion', value: { result: { case: 'failure', value: { message: 'no' } } } },
    })
    const inward = await call('POST', callbacks.at('inward'), { 'content-type': `${BINARY}; v=1` }, wish)
    assert.deepEqual([inward.status, inward.type], [200, 'application/json; charset=utf-8'])
    const headers = { 'content-type': 'application/json', accept: BINARY }
    const outward = await call('POST', callbacks.at('outward'), headers, JSON.stringify(callbacks.wish()))
    assert.equal(outward.type, BINARY)
    assert.notEqual(fromBinary(StartCallbackExecutionResponseSchema, outward.bytes).runId, '')
  })

  test('are given to who weighs them most, however it is spelled', async () => {
    for (const [accept, type] of [
      [`${BINARY}; q=0.9, application/json; q=0.1`, BINARY],
      [BINARY.toUpperCase(), BINARY],
      [`${BINARY};q=0`, 'application/json; charset=utf-8'],
    ] as const) {
      const answer = await call('GET', `${callbacks.base}/callback-count`, { accept })
      assert.equal(answer.type, type, accept)
    }
  })

  test('that cannot be read are INVALID_ARGUMENT, in JSON', async () => {
    for (const bytes of [Uint8Array.of(0xff), Uint8Array.of(0x0a, 0x05, 0x61), Uint8Array.of(0x0a, 1, 0xff)]) {
      const answer = await call('POST', callbacks.at('broken'), { 'content-type': BINARY, accept: BINARY }, bytes)
      assert.deepEqual([answer.status, answer.type], [400, 'application/json; charset=utf-8'])
      assert.equal(JSON.parse(Buffer.from(answer.bytes).toString()).code, 3)
    }
  })
})

describe('requests over HTTP', () => {
  test('are the same under both prefixes', async () => {
    for (const prefix of ['', '/api/v1']) {
      const { api, at } = { api: callbacks.api, at: (rest = '') => prefix + callbacks.at(`both${prefix}`, rest) }
      const { runId } = (await api.post(at(), 200, { body: callbacks.wish() })).body
      assert.equal((await api.get(at('/outcome'), 200)).body.runId, runId)
      assert.equal((await api.get(at(), 200)).body.info.runId, runId)
      assert.ok((await api.get(`${prefix}${callbacks.base}/callbacks`, 200)).body.executions.length > 0)
      assert.ok(Number((await api.get(`${prefix}${callbacks.base}/callback-count`, 200)).body.count) > 0)
      errorOf(await api.post(at('/terminate'), 400))
      assert.deepEqual((await api.delete(at(), 200)).body, {})
      errorOf(await api.get(at(), 404))
    }
  })

  test('may ask for indented answers, and say what nobody knows', async () => {
    await callbacks.startRun('indented')
    const query = '?pretty&nothing=1&nothing=2&namespace=other&__proto__=x&callbackId=other'
    const { text } = await callbacks.api.get(callbacks.at('indented', `/outcome${query}`), 200)
    assert.match(text, /^\{\n {2}"runId": "[^"]+",\n {2}"outcome": \{\n {4}"success": \{\}\n {2}\}\n\}$/)
  })

  test('with a body above 4 MiB are 413 with code 3, below that are judged by what is in them', async () => {
    const big = (bytes: number) => callbacks.wish({ completion: { success: 'x'.repeat(bytes) } })
    const { status, text } = await announceBody(callbacks.server, callbacks.at('big'), { bytes: 4 * MIB + 1 })
    assert.deepEqual([status, JSON.parse(text).code], [413, 3])
    assertSays(await callbacks.refusal('big', big(4 * MIB - 500)), 'size exceeds limit')
    await callbacks.startRun('large', { completion: { success: 'x'.repeat(2 * MIB - 100) } })
  })

  test('that are empty have no media type that could be wrong', async () => {
    await callbacks.startRunning('empty-body')
    // What `curl -d ''` sends.
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    await callbacks.api.post(callbacks.at('empty-body', '/terminate'), 200, { body: '', headers })
  })

  test('in another media type or coding are 415', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    ] as Record<string, string>[]) {
      const answer = await callbacks.api.post(callbacks.at('typed'), 415, { body: '{}', headers })
      assert.equal(errorOf(answer).code, 3)
    }
  })

  test('without a media type are taken for JSON', async () => {
    const body = JSON.stringify(callbacks.wish())
    const head = `POST ${callbacks.at('untyped')} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n`
    const socket = connect(callbacks.server.port, '127.0.0.1')
    socket.end(
      `${head}authorization: Bearer ${callbacks.server.adminToken}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const answer = Buffer.concat(await socket.toArray()).toString()
    assert.match(answer, /^HTTP\/1.1 200 [\s\S]*"runId"/)
  })

  test('that give no time, or one that cannot be read, are told so', async () => {
    const wish = { body: callbacks.wish({ callback: { nexus: { url: callbacks.silent.url } } }) }
    const late = await callbacks.api.post(callbacks.at('late'), 504, { ...wish, headers: { 'grpc-timeout': '0n' } })
    assert.equal(errorOf(late).code, 4)
    errorOf(await callbacks.api.get(callbacks.at('late'), 404))
    for (const headers of [{ 'grpc-timeout': 'soon' }, { 'request-timeout': '2' }] as Record<string, string>[]) {
      assert.equal(errorOf(await callbacks.api.post(callbacks.at('late'), 400, { ...wish, headers })).code, 3)
    }
    await callbacks.api.post(callbacks.at('in-time'), 200, { ...wish, headers: { 'grpc-timeout': '1M' } })
  })

  test('may have a query of 10,000 bytes in their address, all of it percent-encoded, or in the body of QUERY', async () => {
    const { api, base } = callbacks
    const query = `CallbackId = '${'\u{1F600}'.repeat(2_496)}a'`
    assert.equal(Buffer.byteLength(query), 10_000)
    const encoded = [...Buffer.from(query)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    for (const path of [`${base}/callbacks`, `/api/v1${base}/callback-count`]) {
      const asked = await api.get(`${path}?pageSize=10&query=${encoded}`, 200)
      assert.equal(asked.headers.get('accept-query'), `application/json, ${BINARY}`)
      assert.deepEqual((await api.call('QUERY', path, 200, { body: { query } })).body, asked.body)
      assertSays(errorOf(await api.get(`${path}?query=${encoded}%20`, 400)), 'invalid query')
      assert.equal(errorOf(await api.call('QUERY', path, 400, { body: { query: `${query} ` } })).code, 3)
    }
  })

  test('by the method QUERY are read from their body alone, and looked at as others are', async () => {
    const { api, base } = callbacks
    const path = `${base}/callbacks`
    await callbacks.startRunning('by-query-1')
    await callbacks.startRunning('by-query-2')
    const body = { query: `CallbackId STARTS_WITH 'by-query'`, page_size: 1 }
    const { body: first } = await api.call('QUERY', path, 200, { body })
    assert.equal(first.executions.length, 1)
    const next = { ...body, nextPageToken: first.nextPageToken }
    const { body: second } = await api.call('QUERY', path, 200, { body: next })
    assert.notEqual(second.executions[0].callbackId, first.executions[0].callbackId)
    assertSays(errorOf(await api.call('QUERY', path, 400, { body: { other: 1 } })), 'other')
    for (const name of ['query', 'pageSize', 'next_page_token']) {
      const misplaced = await api.call('QUERY', `${path}?${name}=1`, 400, { body: {} })
      assertSays(errorOf(misplaced), `${name} belongs to the body`)
    }
    await api.call('QUERY', `${path}?pretty=true`, 200, { body })
    await api.call('QUERY', path, 401, { body, headers: { authorization: '' } })
    assertSays(errorOf(await api.call('QUERY', path, 400)), 'Content-Type')
    const counted = bytesOf(CountCallbackExecutionsRequestSchema, { query: body.query })
    const answer = await call('QUERY', `${base}/callback-count`, { 'content-type': BINARY, accept: BINARY }, counted)
    assert.equal(fromBinary(CountCallbackExecutionsResponseSchema, answer.bytes).count, 2n)
  })

  test('with an empty name in the path are told which', async () => {
    const { api, base } = callbacks
    assertSays(errorOf(await api.get(`${base}/callbacks//outcome`, 400)), 'callback_id', 'required')
    for (const prefix of ['', '/api/v1']) {
      const body = callbacks.wish({ callbackId: 'of the body' })
      const start = errorOf(await api.post(`${prefix}${base}/callbacks/`, 400, { body }))
      const removal = errorOf(await api.delete(`${prefix}${base}/callbacks/`, 400))
      for (const { code, message } of [start, removal]) {
        assert.deepEqual([code, message], [3, 'callback_id is required'])
      }
    }
    assertSays(errorOf(await api.get('/namespaces//callbacks', 400)), 'namespace', 'required')
    assertSays(errorOf(await api.post('/namespaces//callbacks/x', 400, { body: {} })), 'namespace', 'required')
    assert.equal(errorOf(await api.get(`${base}/callbacks/%ff`, 400)).code, 3)
  })

  test('by another method are 405, and to another path 404, in the shape of the surface', async () => {
    assert.equal(errorOf(await callbacks.api.put(callbacks.at('x'), 405, { body: {} })).code, 12)
    assert.equal(errorOf(await callbacks.api.get(callbacks.at('x', '/terminate'), 405)).code, 12)
    assert.equal(errorOf(await callbacks.api.get(callbacks.at('x', '/nothing'), 404)).code, 5)
  })
})

test('the description of the interface has every operation, in both forms, with the messages it is made of', async () => {
  const { body } = await callbacks.api.get('/openapi.json', 200)
  const one = '/namespaces/{namespace}/callbacks/{callback_id}'
  const wanted = {
    [`POST ${one}`]: ['StartCallbackExecution', 'callbacks_write'],
    [`GET ${one}`]: ['DescribeCallbackExecution', 'callbacks_read'],
    [`GET ${one}/outcome`]: ['PollCallbackExecution', 'callbacks_read'],
    'GET /namespaces/{namespace}/callbacks': ['ListCallbackExecutions', 'callbacks_read'],
    'GET /namespaces/{namespace}/callback-count': ['CountCallbackExecutions', 'callbacks_read'],
    [`POST ${one}/terminate`]: ['TerminateCallbackExecution', 'callbacks_write'],
    [`DELETE ${one}`]: ['DeleteCallbackExecution', 'callbacks_write'],
  }
  for (const [title, facts] of Object.entries(wanted)) {
    const [method, path] = title.split(' ') as [string, string]
    const operation = body.paths[path][method.toLowerCase()]
    assert.deepEqual([operation.operationId, operation['x-access']], facts)
    assert.deepEqual(Object.keys(operation.responses['200'].content), ['application/json', BINARY])
    assert.deepEqual(operation.tags, ['callbacks'])
  }
  const start = body.paths[one].post
  assert.ok(BINARY in start.requestBody.content)
  const { properties } = start.requestBody.content['application/json'].schema
  assert.ok('completion' in properties && 'retryPolicy' in properties && !('callbackId' in properties))
  const { parameters } = body.paths[one].get
  assert.deepEqual(
    parameters.map(({ name }: { name: string }) => name),
    [
      'namespace',
      'callback_id',
      'runId',
      'includeInput',
      'includeOutcome',
      'longPollToken',
      'noPayloadShorthand',
      'pretty',
      'Request-Timeout',
    ],
  )
  // Every reference leads somewhere: messages hold each other in circles.
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)]
  for (const [, kind, name] of references) assert.ok(body.components[kind as string][name as string], name)
  assert.match((await callbacks.api.get('/docs', 200)).text, /StartCallbackExecution/)
})
