import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AddressRefused } from '../../../platform/outbound/address-refused.ts'
import type { Answer } from '../../../platform/outbound/outbound-request.ts'
import { readAnswer, snippetOf } from './read-answer.ts'
import { readError } from './read-error.ts'

const NOW = Date.UTC(2026, 0, 1, 12) * 1000
const HOUR_MS = 3_600_000

interface Given {
  text?: string
  headers?: Record<string, string>
  body?: unknown
  bodyProblem?: string
  isLate?: boolean
}

function answerOf(status: number, given: Given = {}): Answer {
  const { text = '', headers = {}, body = '', bodyProblem, isLate } = given
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const all = typeof body === 'string' || body instanceof Uint8Array ? headers : { ...JSON_TYPE, ...headers }
  return { status, statusText: text, headers: all, body: bytes, bodyProblem, ...(isLate && { isLate }) }
}

const JSON_TYPE = { 'content-type': 'application/json' }

function read(status: number, given?: Given) {
  return readAnswer(answerOf(status, given), NOW, HOUR_MS)
}

function handlerError(details: unknown, message = 'because') {
  return { message, metadata: { type: 'nexus.HandlerError' }, details }
}

const MAPPED: [status: number, result: 'terminal' | 'retryable', type: string][] = [
  [400, 'terminal', 'BAD_REQUEST'],
  [401, 'terminal', 'UNAUTHENTICATED'],
  [403, 'terminal', 'UNAUTHORIZED'],
  [404, 'terminal', 'NOT_FOUND'],
  [409, 'terminal', 'CONFLICT'],
  [501, 'terminal', 'NOT_IMPLEMENTED'],
  [408, 'retryable', 'REQUEST_TIMEOUT'],
  [429, 'retryable', 'RESOURCE_EXHAUSTED'],
  [500, 'retryable', 'INTERNAL'],
  [503, 'retryable', 'UNAVAILABLE'],
  [520, 'retryable', 'UPSTREAM_TIMEOUT'],
]

test('every 2xx is a success, whatever its headers and body say', () => {
  const headers = { 'nexus-request-retryable': 'false', 'retry-after': '5' }
  const body = handlerError({ type: 'INTERNAL', retryableOverride: false })
  for (const status of [200, 201, 202, 204, 206, 226, 299]) {
    const verdict = read(status, { headers, body, bodyProblem: 'broken off' })
    assert.deepEqual(verdict, { result: 'success', errorType: '', message: '', label: 'success' })
  }
})

test('the mapped statuses have their class and type', () => {
  for (const [status, result, type] of MAPPED) {
    assert.deepEqual(read(status), {
      result,
      errorType: type,
      message: `handler error (${type})`,
      label: `handler-error:${type}`,
      retryAfterMs: undefined,
    })
  }
})

test('every other status is unexpected and worth another try, but for 410', () => {
  const mapped = MAPPED.map(([status]) => status)
  for (let status = 100; status < 1000; status++) {
    if (mapped.includes(status) || (status >= 200 && status < 300)) continue
    const verdict = read(status, { text: 'Some Text' })
    assert.equal(verdict.result, status === 410 ? 'terminal' : 'retryable', String(status))
    assert.equal(verdict.message, `unexpected response status: "${status} Some Text"`)
    assert.deepEqual([verdict.errorType, verdict.label], ['', 'unknown-error'])
  }
  assert.equal(read(302).message, 'unexpected response status: "302"')
  assert.equal(read(502, { text: 'a "b"\r\n' }).message, 'unexpected response status: "502 a \\"b\\" \\n"')
})

test('the message of a failure in the body is added', () => {
  const body = { message: 'no such order' }
  assert.equal(read(404, { body }).message, 'handler error (NOT_FOUND): no such order')
  assert.equal(read(404, { body: { message: 7 } }).message, 'handler error (NOT_FOUND)')
  assert.equal(read(502, { text: 'Bad Gateway', body }).message, 'unexpected response status: "502 Bad Gateway"')
})

test('a body that is no JSON object of the right media type is not looked into', () => {
  const text = JSON.stringify(handlerError({ type: 'INTERNAL' }))
  const cases: Given[] = [
    { body: text },
    { body: text, headers: { 'content-type': 'text/plain' } },
    { body: text, headers: { 'content-type': 'application/jsonx' } },
    { body: text, headers: { 'content-type': 'application/problem+json' } },
    { body: text.slice(1), headers: JSON_TYPE },
    { body: '', headers: JSON_TYPE },
    { body: 'null', headers: JSON_TYPE },
    { body: '"x"', headers: JSON_TYPE },
    { body: `[${text}]`, headers: JSON_TYPE },
    { body: '['.repeat(60_000), headers: JSON_TYPE },
    { body: Buffer.from([0xff, 0xfe, 0]), headers: JSON_TYPE },
  ]
  for (const given of cases)
    assert.equal(read(400, given).message, 'handler error (BAD_REQUEST)', JSON.stringify(given))
})

test('media types are compared without their parameters and in any case', () => {
  const body = JSON.stringify(handlerError({ type: 'INTERNAL' }))
  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json ;x=y']) {
    assert.equal(read(400, { body, headers: { 'content-type': type } }).errorType, 'INTERNAL', type)
  }
})

test('the type of a handler error in the body replaces that of any status outside 2xx', () => {
  for (const status of [400, 404, 410, 302, 422, 500, 502]) {
    for (const [, result, type] of MAPPED) {
      const verdict = read(status, { body: handlerError({ type }) })
      assert.deepEqual([verdict.result, verdict.message], [result, `handler error (${type}): because`])
      assert.equal(verdict.label, `handler-error:${type}`)
    }
  }
})

test('an unknown type is worth another try and has one label in the metrics', () => {
  const verdict = read(400, { body: handlerError({ type: 'OUT_OF_LUCK' }, '') })
  assert.deepEqual(
    [verdict.result, verdict.errorType, verdict.message, verdict.label],
    ['retryable', 'OUT_OF_LUCK', 'handler error (OUT_OF_LUCK)', 'handler-error:UNKNOWN'],
  )
  assert.equal(read(400, { body: handlerError({ type: 'x'.repeat(9999) }) }).errorType.length, 128)
})

test('a handler error without a usable type keeps that of the status', () => {
  for (const details of [undefined, null, [], 'x', {}, { type: 7 }, { type: '' }]) {
    assert.equal(read(404, { body: handlerError(details) }).message, 'handler error (NOT_FOUND): because')
    assert.equal(read(410, { body: handlerError(details) }).result, 'terminal')
    assert.equal(read(422, { body: handlerError(details) }).message, 'unexpected response status: "422"')
  }
})

test('the override in the body is the strongest, then the header for mapped statuses, then the table', () => {
  const header = (value: string) => ({ 'nexus-request-retryable': value })
  const cases: [status: number, override: boolean | undefined, header: string | undefined, result: string][] = [
    [400, true, undefined, 'retryable'],
    [400, true, 'false', 'retryable'],
    [500, false, 'true', 'terminal'],
    [422, false, undefined, 'terminal'],
    [410, true, undefined, 'retryable'],
    [400, undefined, 'true', 'retryable'],
    [500, undefined, 'false', 'terminal'],
    [422, undefined, 'false', 'retryable'],
  ]
  for (const [status, retryableOverride, value, result] of cases) {
    const headers = value === undefined ? {} : header(value)
    const { type } = { type: MAPPED.find(([mapped]) => mapped === status)?.[2] }
    assert.equal(
      read(status, { headers, body: handlerError({ type, retryableOverride }) }).result,
      result,
      String(status),
    )
  }
  for (const [status, result] of MAPPED) {
    for (const value of ['true', 'TRUE', ' True '])
      assert.equal(read(status, { headers: header(value) }).result, 'retryable')
    for (const value of ['false', 'False']) assert.equal(read(status, { headers: header(value) }).result, 'terminal')
    for (const value of ['', '1', 'yes']) assert.equal(read(status, { headers: header(value) }).result, result)
  }
  assert.equal(read(502, { headers: header('false') }).result, 'retryable')
  assert.equal(read(410, { headers: header('true') }).result, 'terminal')
  assert.equal(read(500, { body: handlerError({ retryableOverride: 'false' }) }).result, 'retryable')
})

test('another type of failure in the body overrides nothing', () => {
  const body = { message: 'm', metadata: { type: 'nexus.OperationError' }, details: { type: 'INTERNAL' } }
  assert.deepEqual([read(400, { body }).result, read(400, { body }).errorType], ['terminal', 'BAD_REQUEST'])
})

test('an answer whose body is too large or breaks off is worth another try', () => {
  for (const status of [400, 410, 500]) {
    const verdict = read(status, { bodyProblem: 'response body is larger than 65536 bytes' })
    assert.deepEqual([verdict.result, verdict.message], ['retryable', 'response body is larger than 65536 bytes'])
    assert.equal(verdict.label, 'unknown-error')
  }
})

test('an answer that breaks off may still say when to come again, and is a timeout when it took too long', () => {
  const verdict = read(503, { bodyProblem: 'too late', isLate: true, headers: { 'retry-after': '7' } })
  assert.deepEqual([verdict.label, verdict.retryAfterMs], ['request-timeout', 7000])
})

test('messages are cut at 4 KiB and hold nothing that cannot be stored', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.nat({ max: 100 }), (text, times) => {
      const { message } = read(500, { body: { message: text.repeat(times) } })
      assert.ok(Buffer.byteLength(message) <= 4096)
      assert.ok(message.isWellFormed() && !message.includes('\0'))
      assert.ok(message.startsWith('handler error (INTERNAL)'))
    }),
  )
  assert.equal(Buffer.byteLength(read(500, { body: { message: 'x'.repeat(9999) } }).message), 4096)
  assert.equal(Buffer.byteLength(read(500, { body: { message: '€'.repeat(9999) } }).message), 4094)
})

test('Retry-After is taken as seconds or date on what is tried again, at most the longest delay', () => {
  const cases: [text: string, delayMs: number | undefined][] = [
    ['120', 120_000],
    [' 7 ', 7000],
    ['0', 0],
    ['3600', HOUR_MS],
    ['3601', HOUR_MS],
    ['9'.repeat(400), HOUR_MS],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thursday, 01-Jan-26 12:00:30 GMT', 30_000],
    ['Thu Jan  1 12:00:30 2026', 30_000],
    ['Thu, 01 Jan 2026 11:59:59 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Fri, 01 Jan 2100 00:00:00 GMT', HOUR_MS],
    ['', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['2026-01-01T12:00:30Z', undefined],
    ['Thu, 41 Jan 2026 12:00:30 GMT', undefined],
    ['Thu, 01 Foo 2026 12:00:30 GMT', undefined],
    ['Thu, 01 Jan 2026 25:00:30 GMT', undefined],
    ['Thu, 01 Jan 2026 12:00:30 CET', undefined],
    ['Thu, 00 Jan 2026 12:00:30 GMT', undefined],
    ['Thu, 32 Jan 2026 12:00:30 GMT', undefined],
    ['Thu, 01 Jan 2026 24:00:30 GMT', undefined],
    ['Thu, 01 Jan 2026 12:60:30 GMT', undefined],
    ['Thu, 01 Jan 2026 12:00:61 GMT', undefined],
    ['Thu, 01 Jan 2026 12:00:60 GMT', 60_000],
  ]
  for (const [text, delayMs] of cases) {
    for (const status of [429, 503, 500, 302]) {
      assert.equal(read(status, { headers: { 'retry-after': text } }).retryAfterMs, delayMs, text)
    }
    for (const status of [400, 410]) {
      assert.equal(read(status, { headers: { 'retry-after': text } }).retryAfterMs, undefined)
    }
  }
  const body = handlerError({ type: 'UNAVAILABLE', retryableOverride: true })
  assert.equal(read(400, { headers: { 'retry-after': '5' }, body }).retryAfterMs, 5000)
})

test('Retry-After names any day of the year, in each of its three forms', () => {
  const last = Date.UTC(2026, 11, 31, 23, 59, 59)
  for (let month = 0; month < 12; month++) {
    const at = new Date(Date.UTC(2026, month + 1, 0, 23, 59, 59))
    const [, day, name] = at.toUTCString().split(' ')
    for (const text of [
      at.toUTCString(),
      `Thursday, ${day}-${name}-26 23:59:59 GMT`,
      `Thu ${name} ${day} 23:59:59 2026`,
    ]) {
      const answer = answerOf(503, { headers: { 'retry-after': text } })
      const { retryAfterMs } = readAnswer(answer, NOW, Number.MAX_SAFE_INTEGER)
      assert.equal(retryAfterMs, at.getTime() - NOW / 1000, text)
    }
  }
  // Two digits of a year: the one of that ending which is not more than fifty years ahead.
  const delayOf = (year: string) => {
    const headers = { 'retry-after': `Thursday, 31-Dec-${year} 23:59:59 GMT` }
    return readAnswer(answerOf(503, { headers }), NOW, Number.MAX_SAFE_INTEGER).retryAfterMs
  }
  assert.equal(delayOf('26'), last - NOW / 1000)
  assert.equal(delayOf('76'), Date.UTC(2076, 11, 31, 23, 59, 59) - NOW / 1000)
  assert.equal(delayOf('77'), 0)
})

test('whatever a receiver answers is read into one of three results', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 999 }), fc.json(), fc.string(), (status, json, header) => {
      const headers = { ...JSON_TYPE, 'retry-after': header, 'nexus-request-retryable': header }
      const verdict = read(status, { text: header, headers, body: json })
      assert.ok(['success', 'retryable', 'terminal'].includes(verdict.result))
      assert.equal(verdict.message === '', verdict.result === 'success')
    }),
  )
})

test('a snippet is at most the first 1 KiB, whole characters and nothing that cannot be stored', () => {
  assert.equal(snippetOf(Buffer.from('short\n\ttext')), 'short\n\ttext')
  assert.equal(snippetOf(Buffer.from('a\0b\x1bc')), 'a b c')
  assert.equal(snippetOf(Buffer.from('x'.repeat(5000))), 'x'.repeat(1024))
  assert.equal(snippetOf(Buffer.from('€'.repeat(5000))), '€'.repeat(341))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), (body) => {
      const snippet = snippetOf(body)
      assert.ok(Buffer.byteLength(snippet) <= 1024 && snippet.isWellFormed() && !snippet.includes('\0'))
    }),
  )
})

test('an error instead of an answer is worth another try and keeps its text', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:443'), { code: 'ECONNREFUSED' })
  const cases: [error: unknown, message: string, label: string][] = [
    [refused, 'connect ECONNREFUSED 192.0.2.1:443', 'unknown-error'],
    [new Error('getaddrinfo ENOTFOUND nowhere.example'), 'getaddrinfo ENOTFOUND nowhere.example', 'unknown-error'],
    [new AggregateError([refused, refused]), 'connect ECONNREFUSED 192.0.2.1:443', 'unknown-error'],
    [Object.assign(new Error(''), { code: 'ECONNRESET' }), 'ECONNRESET', 'unknown-error'],
    [new DOMException('timed out', 'TimeoutError'), 'timed out', 'request-timeout'],
    [new Error('outer', { cause: Object.assign(new Error('x'), { code: 'ETIMEDOUT' }) }), 'outer', 'request-timeout'],
    [Object.assign(new Error('Headers'), { code: 'UND_ERR_HEADERS_TIMEOUT' }), 'Headers', 'request-timeout'],
    [Object.assign(new Error('Connect'), { code: 'UND_ERR_CONNECT_TIMEOUT' }), 'Connect', 'request-timeout'],
    [Object.assign(new Error('Body'), { code: 'UND_ERR_BODY_TIMEOUT' }), 'Body', 'request-timeout'],
    ['no error at all', 'the request failed', 'unknown-error'],
    [undefined, 'the request failed', 'unknown-error'],
  ]
  for (const [error, message, label] of cases) {
    assert.deepEqual(readError(error), { result: 'retryable', errorType: '', message, label })
  }
  assert.equal(Buffer.byteLength(readError(new Error('x'.repeat(9999))).message), 4096)
})

test('a destination that we refuse to call is not tried again, however deep the refusal lies', () => {
  const refusal = new AddressRefused()
  for (const error of [refusal, new Error('x', { cause: refusal }), new AggregateError([new Error('y'), refusal])]) {
    assert.deepEqual(readError(error), {
      result: 'terminal',
      errorType: '',
      message: 'destination address not allowed',
      label: 'unknown-error',
    })
  }
})

test('an error that causes itself is read to an end', () => {
  const error = new Error('loop')
  error.cause = error
  assert.equal(readError(error).message, 'loop')
})
