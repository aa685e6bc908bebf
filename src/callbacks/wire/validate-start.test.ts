import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBinary } from '@bufbuild/protobuf'
import { CallbackExecutionCompletionSchema } from '../../gen/temporal/api/callback/v1/message_pb.js'
import { CallbackSchema, SearchAttributesSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { StartCallbackExecutionRequestSchema } from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { defaultTree } from '../../platform/config/merge-layers.ts'
import { Origins } from '../../platform/config/origins.ts'
import { Problems } from '../../platform/config/problems.ts'
import { SettingsReader } from '../../platform/config/read-settings.ts'
import { isAppError } from '../../platform/errors/app-error.ts'
import type { ErrorCode } from '../../platform/errors/codes.ts'
import { createIpFilter } from '../../platform/outbound/ip-filter.ts'
import { type CallbackPolicy, POLICY } from '../settings.ts'
import { LONGEST_MICROS } from '../state/schedule-to-close.ts'
import { readMessage } from './json.ts'
import { type StartRules, type ValidStart, validateStart } from './validate-start.ts'

const SERVER = new SettingsReader({ mode: 'serve', cwd: '/' }, new Origins(), new Problems()).read(
  POLICY,
  defaultTree(POLICY, 'serve'),
  [],
) as CallbackPolicy

const ATTRIBUTES = { Customer: 'Keyword', Amount: 'Int', Tags: 'KeywordList' }

function rulesWith(changes: Partial<CallbackPolicy>): StartRules {
  const policy = { ...SERVER, ...changes }
  const filter = createIpFilter(policy.allowed_private_cidrs)
  const targetPolicy = { rules: policy.allowed_addresses, filter, deniedPorts: policy.denied_ports }
  return { policy, targetPolicy, searchAttributes: ATTRIBUTES }
}

const RULES = rulesWith({})

type Json = Record<string, unknown>

const GOOD: Json = {
  namespace: 'default',
  identity: 'billing',
  requestId: 'r-1',
  callbackId: 'order-42',
  callback: { nexus: { url: 'https://shop.example/hooks/42', header: { 'X-Tenant': 'a' }, token: 't-1' } },
  scheduleToCloseTimeout: '86400s',
  searchAttributes: { indexedFields: { Customer: 'c-1' } },
  completion: { success: { paid: true } },
}

function validate(changes: Json = {}, rules: StartRules = RULES): ValidStart {
  return validateStart(readMessage(StartCallbackExecutionRequestSchema, { ...GOOD, ...changes }), rules)
}

function refusal(changes: Json, rules?: StartRules): { code: ErrorCode; message: string } {
  try {
    validate(changes, rules)
  } catch (error) {
    assert.ok(isAppError(error), String(error))
    return { code: error.code, message: error.message }
  }
  return assert.fail(`accepted ${JSON.stringify(changes).slice(0, 200)}`)
}

function nexus(changes: Json): Json {
  return { callback: { nexus: { ...(GOOD.callback as { nexus: Json }).nexus, ...changes } } }
}

function deepFailure(causes: number, bottom = 'bottom'): Json {
  let failure: Json = { message: bottom }
  for (let level = 0; level < causes; level++) failure = { message: 'above', cause: failure }
  return failure
}

const long = (bytes: number) => 'x'.repeat(bytes)
const base64 = (text: string) => Buffer.from(text).toString('base64')

function ownContent(metadata: Record<string, string>): Json {
  const encoded = Object.entries({ encoding: 'unknown/nexus-content', ...metadata })
  return { success: { metadata: Object.fromEntries(encoded.map(([key, value]) => [key, base64(value)])), data: '' } }
}

/**
 * What is wrong, in the order in which it is said, with the words that the message has to hold. Every step is wrong in
 * its own way and good in all the others, except that a later one of the same field replaces an earlier one.
 */
const STEPS: { row: string; wrong: Json; words: string[]; code?: ErrorCode; rules?: Partial<CallbackPolicy> }[] = [
  { row: '1', wrong: {}, words: ['not enabled'], code: 'unimplemented', rules: { enabled: false } },
  { row: '2', wrong: { namespace: '' }, words: ['namespace', 'required'] },
  { row: '2', wrong: { identity: '' }, words: ['identity', 'required'] },
  { row: '2', wrong: { callbackId: '' }, words: ['callback_id', 'required'] },
  { row: '3', wrong: { callbackId: long(1001) }, words: ['callback_id', '1001', '1000'] },
  { row: '3', wrong: { callbackId: 'é'.repeat(501) }, words: ['callback_id', '1002', '1000'] },
  { row: '3', wrong: { callbackId: 'a\0b' }, words: ['callback_id', 'NUL'] },
  { row: '3', wrong: { identity: long(1001) }, words: ['identity', '1001', '1000'] },
  { row: '3', wrong: { requestId: long(1001) }, words: ['request_id', '1001', '1000'] },
  { row: '4', wrong: { callback: null }, words: ['callback', 'not set'] },
  { row: '5', wrong: { callback: {} }, words: ['callback', 'variant'], code: 'unimplemented' },
  { row: '5', wrong: { callback: { internal: {} } }, words: ['callback.internal'] },
  { row: '6', wrong: nexus({ url: `https://a.example/${long(1000)}` }), words: ['url length', '1018', '1000'] },
  { row: '7', wrong: nexus({ url: '' }), words: ['url', 'not set'] },
  { row: '7', wrong: nexus({ url: 'ftp://a.example' }), words: ['scheme'] },
  { row: '7', wrong: nexus({ url: 'temporal://system' }), words: ['scheme'] },
  { row: '7', wrong: nexus({ url: 'https://' }), words: ['missing host'] },
  { row: '7', wrong: nexus({ url: 'https://[::' }), words: ['url'] },
  {
    row: '8',
    wrong: nexus({ url: 'https://user:pw@b.example' }),
    words: ['does not match'],
    rules: { allowed_addresses: [{ pattern: 'a.example', allow_insecure: false }] },
  },
  { row: '8', wrong: nexus({ url: 'http://user:pw@a.example' }), words: ['insecure'] },
  { row: '9', wrong: nexus({ url: 'https://user:pw@10.0.0.1' }), words: ['user or password'] },
  { row: '9', wrong: nexus({ url: 'https://10.0.0.1:22' }), words: ['not allowed'] },
  { row: '9', wrong: nexus({ url: 'https://0x7f.1' }), words: ['not allowed'] },
  { row: '17.9', wrong: nexus({ url: 'https://a.example:22' }), words: ['port 22'] },
  { row: '10', wrong: nexus({ header: { 'a b': '' } }), words: ['header', 'a b'] },
  { row: '10', wrong: nexus({ header: { '': '' } }), words: ['header'] },
  { row: '10', wrong: nexus({ header: { [long(9000)]: 'a\r\nb' } }), words: ['header', 'CR'] },
  { row: '10', wrong: nexus({ header: { a: 'a\nb' } }), words: ['header "a"', 'LF'] },
  { row: '10', wrong: nexus({ header: { a: 'a\rb' } }), words: ['header "a"', 'CR'] },
  { row: '10', wrong: nexus({ header: { a: 'a\0b' } }), words: ['header "a"', 'NUL'] },
  { row: '17.9', wrong: nexus({ token: 'a\tb' }), words: ['token', 'control characters'] },
  { row: '10', wrong: nexus({ header: { a: 'a\u0001b' } }), words: ['header "a"', 'control characters'] },
  { row: '10', wrong: nexus({ header: { a: '\u0085' } }), words: ['header "a"', 'control characters'] },
  { row: '11', wrong: nexus({ header: { a: long(8192) } }), words: ['header size', '8193', '8192'] },
  { row: '11', wrong: nexus({ token: long(8193) }), words: ['token size', '8193', '8192'] },
  { row: '13', wrong: { scheduleToCloseTimeout: '-1s' }, words: ['schedule_to_close_timeout', 'negative'] },
  { row: '13', wrong: { scheduleToCloseTimeout: '-0.5s' }, words: ['schedule_to_close_timeout', 'negative'] },
  {
    row: 'times',
    wrong: { retryPolicy: { initialInterval: '-1s' } },
    words: ['retry_policy.initial_interval', 'negative'],
  },
  { row: 'times', wrong: { retryPolicy: { initialInterval: '0.0001s' } }, words: ['initial_interval', '0.001s'] },
  {
    row: 'times',
    wrong: { retryPolicy: { maximumInterval: '-1s' } },
    words: ['retry_policy.maximum_interval', 'negative'],
  },
  {
    row: 'times',
    wrong: { retryPolicy: { initialInterval: '2s', maximumInterval: '1s' } },
    words: ['maximum_interval', 'initial_interval'],
  },
  { row: 'times', wrong: { retryPolicy: { backoffCoefficient: 0.5 } }, words: ['backoff_coefficient', 'at least 1'] },
  { row: 'times', wrong: { retryPolicy: { backoffCoefficient: 'NaN' } }, words: ['backoff_coefficient'] },
  { row: 'times', wrong: { retryPolicy: { backoffCoefficient: 'Infinity' } }, words: ['backoff_coefficient'] },
  { row: 'times', wrong: { retryPolicy: { maximumAttempts: -1 } }, words: ['maximum_attempts', 'negative'] },
  { row: 'times', wrong: { startDelay: '-1s' }, words: ['start_delay', 'negative'] },
  { row: '14', wrong: { completion: null }, words: ['completion', 'required'] },
  { row: '14', wrong: { completion: {} }, words: ['completion', 'success', 'failure'] },
  {
    row: '15',
    wrong: { completion: { failure: { ...deepFailure(21), source: long(2_097_152) } } },
    words: ['completion', 'size exceeds limit', '2097152'],
  },
  { row: '16', wrong: { completion: { failure: deepFailure(21) } }, words: ['20 causes'] },
  {
    row: '15, of what is sent',
    wrong: { completion: { failure: deepFailure(20, long(420_000)) } },
    words: ['completion', 'size exceeds limit', 'would be sent as', 'at most 8388608'],
  },
  { row: '17.9', wrong: { completion: ownContent({ 'a b': 'x' }) }, words: ['completion metadata', 'a b'] },
  { row: '17.9', wrong: { completion: ownContent({ type: 'x\ny' }) }, words: ['completion metadata', 'control'] },
  {
    row: '11, of metadata',
    wrong: { completion: ownContent({ type: long(8181) }) },
    words: ['completion metadata', 'header size', '8193', '8192'],
  },
  {
    row: '17',
    wrong: {
      searchAttributes: {
        indexedFields: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`A${n}`, long(3000)])),
      },
    },
    words: ['101', '100'],
  },
  {
    row: '17',
    wrong: { searchAttributes: { indexedFields: { Nobody: long(2047) } } },
    words: ['Nobody', '2049', '2048'],
  },
  {
    row: '17',
    wrong: {
      searchAttributes: {
        indexedFields: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`A${n}`, long(2000)])),
      },
    },
    words: ['42042', '40960'],
  },
  { row: '18', wrong: { searchAttributes: { indexedFields: { Nobody: 'x' } } }, words: ['Nobody', 'not defined'] },
  { row: '18', wrong: { searchAttributes: { indexedFields: { RunId: 'x' } } }, words: ['RunId'] },
  { row: '18', wrong: { searchAttributes: { indexedFields: { CreateTime: 'x' } } }, words: ['CreateTime'] },
  { row: '18', wrong: { searchAttributes: { indexedFields: { Amount: 'x' } } }, words: ['Amount', 'Int'] },
  {
    row: '18',
    wrong: { searchAttributes: { indexedFields: { Amount: { data: 'NQ==' } } } },
    words: ['Amount', 'json/plain'],
  },
]

for (const { row, wrong, words, code = 'invalid_argument', rules } of STEPS) {
  test(`a start is refused by row ${row}: ${words.join(', ')}`, () => {
    const answer = refusal(wrong, rules === undefined ? RULES : rulesWith(rules))
    assert.equal(answer.code, code)
    for (const word of words) assert.ok(answer.message.includes(word), answer.message)
    assert.ok(answer.message.length < 400 && answer.message.isWellFormed())
  })
}

test('of several things that are wrong the first one in the order of the table is said', () => {
  for (const [index, first] of STEPS.entries()) {
    for (const later of STEPS.slice(index + 1)) {
      // One value cannot be wrong in two ways, nor one setting have two values.
      const isSameField = Object.keys(later.wrong).some((field) => Object.hasOwn(first.wrong, field))
      if (isSameField || (later.rules !== undefined && first.rules === undefined)) continue
      const both = { ...later.wrong, ...first.wrong }
      const { message } = refusal(both, rulesWith({ ...first.rules }))
      for (const word of first.words) {
        assert.ok(message.includes(word), `${first.words.join()} before ${later.words.join()}: ${message}`)
      }
    }
  }
})

test('a good request is ready to be stored', () => {
  const start = validate()
  assert.equal(start.destination, 'https://shop.example')
  assert.equal(start.target.requestPath, '/hooks/42')
  assert.equal(start.timeoutMicros, 86_400_000_000)
  assert.equal(start.startDelayMicros, 0)
  assert.equal(start.retryPolicy, null)
  assert.equal(start.isLarge, false)
  assert.deepEqual([start.requestId, start.callbackId], ['r-1', 'order-42'])
  assert.deepEqual(start.attributeRows, [{ name: 'Customer', type: 'Keyword', text_value: 'c-1', number_value: null }])
  assert.deepEqual(fromBinary(CallbackSchema, start.callbackBytes), start.callback)
  assert.deepEqual(fromBinary(CallbackExecutionCompletionSchema, start.completionBytes), start.completion)
  assert.ok(fromBinary(SearchAttributesSchema, start.searchAttributesBytes as Uint8Array).indexedFields.Customer)
})

test('a header may hold a tab and any letters', () => {
  const header = { a: 'b\tc', d: 'ü 日' }
  const { callback } = validate(nexus({ header }))
  assert.deepEqual(callback.variant.case === 'nexus' && callback.variant.value.header, header)
})

test('headers that the server makes by itself do not count for the limit of a caller', () => {
  const rules = rulesWith({ header_max_size: 0 })
  for (const metadata of [{ encoding: 'anNvbi9wbGFpbg==' }, {}]) {
    const completion = { success: { metadata, data: 'MQ==' } }
    validateStart(
      readMessage(StartCallbackExecutionRequestSchema, { ...GOOD, ...nexus({ header: {} }), completion }),
      rules,
    )
  }
})

test('a token may be as long as headers may, and never less than they may by default', () => {
  validate(nexus({ token: long(8192) }))
  for (const [limit, fits] of [
    [0, 8192],
    [20_000, 20_000],
  ] as const) {
    const start = (bytes: number) =>
      validateStart(
        readMessage(StartCallbackExecutionRequestSchema, { ...GOOD, ...nexus({ header: {}, token: long(bytes) }) }),
        rulesWith({ header_max_size: limit }),
      )
    start(fits)
    assert.throws(() => start(fits + 1), /token size/)
  }
})

test('names of headers are folded and the last of equal ones wins', () => {
  const { callback } = validate(nexus({ header: { 'X-A': '1', 'x-a': '2', 'X-B': '3', __proto__: '4' } }))
  assert.deepEqual(callback.variant.case === 'nexus' && callback.variant.value.header, { 'x-a': '2', 'x-b': '3' })
  assert.equal(callback.variant.case === 'nexus' && callback.variant.value.token, 't-1')
  const odd = validate(nexus({ header: JSON.parse('{"__proto__": "4"}') as Json })).callback
  assert.deepEqual(odd.variant.case === 'nexus' && Object.entries(odd.variant.value.header), [['__proto__', '4']])
})

test('the request itself is left as it is', () => {
  const request = readMessage(StartCallbackExecutionRequestSchema, GOOD)
  validateStart(request, RULES)
  assert.deepEqual(request, readMessage(StartCallbackExecutionRequestSchema, GOOD))
})

test('what is exactly at a limit passes', () => {
  validate({ callbackId: long(1000), identity: long(1000), requestId: long(1000) })
  validate(nexus({ url: `https://a.example/${long(982)}` }))
  validate(nexus({ header: { a: long(8191) } }))
  validate({ completion: { failure: deepFailure(20) } })
  validate({ completion: { failure: deepFailure(20, long(390_000)) } })
  validate({ searchAttributes: { indexedFields: { Customer: long(2046) } } })
  const room = 2_097_152 - validate({ completion: { failure: { source: long(2_000_000) } } }).completionBytes.length
  assert.equal(
    validate({ completion: { failure: { source: long(2_000_000 + room) } } }).completionBytes.length,
    2_097_152,
  )
})

test('white space, no request id, no search attributes and an empty payload are good', () => {
  const start = validate({
    callbackId: ' ',
    identity: '\t',
    requestId: '',
    searchAttributes: null,
    completion: { success: { data: '' } },
  })
  assert.equal(start.requestId, '')
  assert.equal(start.searchAttributesBytes, null)
  assert.deepEqual(start.attributeRows, [])
})

test('a large completion is marked for the log', () => {
  assert.equal(validate({ completion: { success: long(524_288) } }).isLarge, true)
})

test('a time limit is capped at a hundred years and at the ceiling of the server', () => {
  assert.equal(validate({ scheduleToCloseTimeout: '315576000000s' }).timeoutMicros, LONGEST_MICROS)
  assert.equal(validate({ scheduleToCloseTimeout: null }).timeoutMicros, null)
  assert.equal(validate({ scheduleToCloseTimeout: '0s' }).timeoutMicros, null)
  assert.equal(validate({ scheduleToCloseTimeout: '0.000000001s' }).timeoutMicros, 1)
  const ceiling = rulesWith({ schedule_to_close: { default: 1_000, max: 5_000 } })
  assert.equal(validate({ scheduleToCloseTimeout: '60s' }, ceiling).timeoutMicros, 5_000_000)
  assert.equal(validate({ scheduleToCloseTimeout: null }, ceiling).timeoutMicros, 1_000_000)
})

test('a duration in binary form is checked as one in JSON is', () => {
  const request = readMessage(StartCallbackExecutionRequestSchema, GOOD)
  const cases: [seconds: bigint, nanos: number, words: RegExp][] = [
    [315_576_000_001n, 0, /schedule_to_close_timeout is outside the range/],
    [0n, 1_000_000_000, /schedule_to_close_timeout is outside the range/],
    [1n, -1, /schedule_to_close_timeout.*negative.*same sign/],
    [-1n, 1, /schedule_to_close_timeout.*negative.*same sign/],
    [0n, -1, /schedule_to_close_timeout must not be negative/],
  ]
  for (const [seconds, nanos, words] of cases) {
    const given = {
      ...request,
      scheduleToCloseTimeout: { $typeName: 'google.protobuf.Duration' as const, seconds, nanos },
    }
    assert.throws(() => validateStart(given, RULES), words)
  }
  const completion = { failure: { cause: { applicationFailureInfo: { nextRetryDelay: '1s' } } } }
  const inner = readMessage(StartCallbackExecutionRequestSchema, { ...GOOD, completion })
  const failure = inner.input.value?.result
  const info = failure?.case === 'failure' ? failure.value.cause?.failureInfo : undefined
  assert.ok(info?.case === 'applicationFailureInfo' && info.value.nextRetryDelay)
  info.value.nextRetryDelay.nanos = -1
  assert.throws(() => validateStart(inner, RULES), /next_retry_delay.*same sign/)
})

test('a policy of the callback and a delay of its first attempt are read', () => {
  const start = validate({
    startDelay: '1.5s',
    retryPolicy: { initialInterval: '2s', maximumInterval: '60s', backoffCoefficient: 1.5, maximumAttempts: 4 },
  })
  assert.equal(start.startDelayMicros, 1_500_000)
  assert.deepEqual(start.retryPolicy, {
    initialMicros: 2_000_000,
    maximumMicros: 60_000_000,
    coefficient: 1.5,
    maximumAttempts: 4,
  })
  assert.equal(validate({ retryPolicy: {} }).retryPolicy, null)
  assert.equal(validate({ retryPolicy: { maximumAttempts: 3 } }).retryPolicy?.initialMicros, 0)
})

test('search attributes may be null, lists, and 64 bits wide', () => {
  const indexedFields = {
    Customer: null,
    Tags: ['a', 'b'],
    Amount: { metadata: { encoding: base64('json/plain'), type: base64('Int') }, data: base64('9007199254740993') },
  }
  assert.deepEqual(
    validate({ searchAttributes: { indexedFields } }).attributeRows.map(({ name, text_value, number_value }) => [
      name,
      text_value ?? number_value,
    ]),
    [
      ['Tags', 'a'],
      ['Tags', 'b'],
      ['Amount', 9007199254740993n],
    ],
  )
})

test('own content may name a length, which is ignored', () => {
  validate({ completion: ownContent({ type: 'text/plain', length: '5' }) })
})
