import assert from 'node:assert/strict'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { isHeaderName } from '../../../platform/outbound/header-text.ts'
import { VERSION } from '../../../version.ts'
import { completionBody } from './completion-body.ts'
import { hasControlCharacters } from './header-text.ts'
import { type AttemptFacts, requestHeaders } from './request-headers.ts'

const CREATED_AT = Date.UTC(1994, 10, 15, 8, 12, 31) * 1000
const FACTS: AttemptFacts = {
  runId: '0d5b0000-0000-7000-8000-000000000001',
  attempt: 3,
  createdAt: CREATED_AT,
  attemptedAt: 1_614_265_330_999_999,
  callback: { header: {}, token: '' },
  completion: {
    state: 'succeeded',
    headers: new Map([['content-type', 'application/json']]),
    body: Buffer.from('"ü"'),
  },
  secrets: [],
}

function headersWith(header: Record<string, string>, facts: Partial<AttemptFacts> = {}, token = '') {
  return requestHeaders({ ...FACTS, ...facts, callback: { header, token } })
}

test('sends what receivers need to know', () => {
  assert.deepEqual(Object.fromEntries(requestHeaders(FACTS)), {
    'user-agent': `Commonplace/${VERSION}`,
    'nexus-operation-state': 'succeeded',
    'nexus-operation-start-time': 'Tue, 15 Nov 1994 08:12:31 GMT',
    'nexus-operation-close-time': '1994-11-15T08:12:31Z',
    'content-type': 'application/json',
    'content-length': '4',
    'webhook-id': FACTS.runId,
    'webhook-timestamp': '1614265330',
    'webhook-attempt': '3',
  })
})

test('the state is that of the completion', () => {
  for (const state of ['succeeded', 'failed', 'canceled'] as const) {
    const headers = headersWith({}, { completion: { ...FACTS.completion, state } })
    assert.equal(headers.get('nexus-operation-state'), state)
  }
})

test('the close time has as many digits as it needs', () => {
  const cases = [
    [0, '1994-11-15T08:12:31Z'],
    [120_000, '1994-11-15T08:12:31.120Z'],
    [7_000, '1994-11-15T08:12:31.007Z'],
    [123_456, '1994-11-15T08:12:31.123456Z'],
    [1, '1994-11-15T08:12:31.000001Z'],
    [999_999, '1994-11-15T08:12:31.999999Z'],
  ] as const
  for (const [micros, text] of cases) {
    const headers = headersWith({}, { createdAt: CREATED_AT + micros })
    assert.equal(headers.get('nexus-operation-close-time'), text)
    assert.equal(headers.get('nexus-operation-start-time'), 'Tue, 15 Nov 1994 08:12:31 GMT')
  }
})

test('the caller wins for the headers that are theirs to set', () => {
  const own = {
    'user-agent': 'own/1',
    'nexus-operation-token': 'op',
    'nexus-operation-start-time': 'then',
    'nexus-operation-close-time': 'later',
    'nexus-link': '<x>; type="y"',
    authorization: 'Bearer t',
    'x-tenant': 'a',
  }
  const headers = headersWith(own)
  for (const [name, value] of Object.entries(own)) assert.equal(headers.get(name), value)
})

test('without the caller there is neither an operation token nor a link nor a signature', () => {
  for (const name of ['nexus-operation-token', 'nexus-link', 'temporal-callback-token', 'webhook-signature']) {
    assert.equal(requestHeaders(FACTS).has(name), false)
  }
})

test('the caller can neither change nor add what belongs to the delivery', () => {
  const names = [
    'nexus-operation-state',
    'content-type',
    'content-length',
    'content-encoding',
    'content-anything',
    'host',
    'transfer-encoding',
    'connection',
    'keep-alive',
    'upgrade',
    'te',
    'trailer',
    'expect',
    'proxy-authorization',
    'proxy-connection',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'webhook-attempt',
    'webhook-anything',
  ]
  for (const name of names) {
    for (const spelled of [name, name.toUpperCase()]) {
      assert.deepEqual(headersWith({ [spelled]: 'evil' }), requestHeaders(FACTS), spelled)
    }
  }
})

test('the token of the callback wins over a header of that name', () => {
  const header = { 'temporal-callback-token': 'from header' }
  assert.equal(headersWith(header).get('temporal-callback-token'), 'from header')
  assert.equal(headersWith(header, {}, 't-1').get('temporal-callback-token'), 't-1')
  assert.equal(headersWith({ 'Temporal-Callback-Token': 'x' }, {}, 't-1').get('temporal-callback-token'), 't-1')
})

test('signs with every secret', () => {
  assert.match(headersWith({}, { secrets: [Buffer.alloc(24, 1)] }).get('webhook-signature') ?? '', /^v1,[\w+/]{43}=$/)
  const secrets = [Buffer.alloc(24, 1), Buffer.alloc(24, 2)]
  assert.match(headersWith({}, { secrets }).get('webhook-signature') ?? '', /^v1,[\w+/]{43}= v1,[\w+/]{43}=$/)
})

test('values beyond ASCII are sent as UTF-8', () => {
  const value = headersWith({ 'x-name': 'Zoë 日' }).get('x-name') ?? ''
  assert.equal(Buffer.from(value, 'latin1').toString(), 'Zoë 日')
})

test('a name such as __proto__ is a header like any other', () => {
  assert.equal(headersWith(JSON.parse('{"__proto__": "x", "constructor": "y"}')).get('__proto__'), 'x')
})

test('whatever is stored, every header can be sent and none ends its line', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('\r', '\n', '\0', 'a', ':', ' ') }),
  )
  const metadata = fc.dictionary(text, text, { maxKeys: 4 }).map((entries) => {
    const withEncoding = { ...entries, encoding: 'unknown/nexus-content' }
    return Object.fromEntries(Object.entries(withEncoding).map(([key, value]) => [key, Buffer.from(value)]))
  })
  fc.assert(
    fc.property(fc.dictionary(text, text), text, text, metadata, (header, token, runId, fields) => {
      const payload = { metadata: fields, data: Buffer.from('x'), externalPayloads: [] }
      const completion = completionBody({ result: { case: 'success', value: payload } })
      const headers = headersWith(header, { runId, completion }, token)
      for (const [name, value] of headers) {
        validateHeaderName(name)
        validateHeaderValue(name, value)
        assert.doesNotMatch(name + value, /[\r\n\0]/)
      }
      assert.equal(headers.get('content-length'), '1')
    }),
  )
})

test('tells header names and control characters from other texts', () => {
  for (const name of ['x-a', 'X_1', "!#$%&'*+-.^_`|~"]) assert.equal(isHeaderName(name), true, name)
  for (const name of ['', 'a b', 'a:', 'ü', 'a\r', '"a"', '(a)', 'a/b', ':path', '\u212a']) {
    assert.equal(isHeaderName(name), false, name)
  }
  for (const text of ['\0', 'a\r', '\n', '\t', '\x7f', '\u0085']) assert.equal(hasControlCharacters(text), true)
  for (const text of ['', 'a b', 'ü', '日']) assert.equal(hasControlCharacters(text), false)
})
