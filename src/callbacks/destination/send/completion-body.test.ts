import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Failure, FailureInfos, Payload } from '../../wire/messages.ts'
import { bodyBytes, completionBody } from './completion-body.ts'
import { findMetadataProblem } from './payload-content.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function payloadOf(metadata: Record<string, string>, data = ''): Payload {
  const entries = Object.entries(metadata).map(([key, value]) => [key, bytes(value)])
  return { metadata: Object.fromEntries(entries), data: bytes(data), externalPayloads: [] }
}

function failureOf(members: Partial<Failure> = {}): Failure {
  return { message: '', source: '', stackTrace: '', failureInfo: { case: undefined }, ...members }
}

function infoOf<Name extends keyof FailureInfos>(name: Name, value: FailureInfos[Name]): Failure['failureInfo'] {
  return { case: name, value } as Failure['failureInfo']
}

function success(payload: Payload) {
  return completionBody({ result: { case: 'success', value: payload } })
}

function failed(failure: Failure) {
  const { state, headers, body } = completionBody({ result: { case: 'failure', value: failure } })
  assert.deepEqual([...headers], [['content-type', 'application/json']])
  return { state, json: JSON.parse(Buffer.from(body).toString()) }
}

test('a result travels as what its metadata says', () => {
  const cases: [metadata: Record<string, string>, headers: Record<string, string>][] = [
    [{ encoding: 'json/plain' }, { 'content-type': 'application/json' }],
    [
      { encoding: 'json/protobuf', messageType: 'shop.v1.Order' },
      { 'content-type': 'application/json; format=protobuf; message-type="shop.v1.Order"' },
    ],
    [
      { messageType: 'shop.v1.Order', encoding: 'binary/protobuf' },
      { 'content-type': 'application/x-protobuf; message-type="shop.v1.Order"' },
    ],
    [
      { encoding: 'binary/protobuf', messageType: 'a"; b="\\' },
      { 'content-type': 'application/x-protobuf; message-type="a\\"; b=\\"\\\\"' },
    ],
    [{ encoding: 'binary/plain' }, { 'content-type': 'application/octet-stream' }],
    [{ encoding: 'binary/null' }, {}],
    [{ encoding: 'unknown/nexus-content' }, {}],
    [
      { encoding: 'unknown/nexus-content', type: 'text/csv', Language: 'de', LENGTH: '7', 'no token': 'x' },
      { 'content-type': 'text/csv', 'content-language': 'de' },
    ],
  ]
  for (const [metadata, expected] of cases) {
    const { state, headers, body } = success(payloadOf(metadata, ' {"a" : 1}\0ü'))
    assert.equal(state, 'succeeded')
    assert.deepEqual(Object.fromEntries(headers), expected)
    assert.equal(Buffer.from(body).toString(), ' {"a" : 1}\0ü')
  }
})

test('everything else travels as the message that it is', () => {
  const cases: Record<string, string>[] = [
    {},
    { encoding: 'json/plain', extra: 'x' },
    { encoding: 'json/plain', messageType: 'a.B' },
    { encoding: 'json/protobuf' },
    { encoding: 'json/protobuf', messageType: '' },
    { encoding: 'binary/protobuf', messageType: '' },
    { encoding: 'json/protobuf', messageType: 'a.B', extra: 'x' },
    { encoding: 'binary/protobuf', other: 'a.B' },
    { encoding: 'binary/plain', extra: '' },
    { encoding: 'binary/null', extra: '' },
    { encoding: 'binary/encrypted' },
    { encoding: 'JSON/PLAIN' },
    { messageType: 'a.B' },
    { constructor: 'x' },
  ]
  for (const metadata of cases) {
    const { headers, body } = success(payloadOf(metadata, 'data'))
    assert.deepEqual([...headers], [['content-type', 'application/x-temporal-payload']], JSON.stringify(metadata))
    assert.ok(Buffer.from(body).toString().endsWith('\x12\x04data'))
  }
})

test('a message is encoded with the numbers of its members', () => {
  assert.equal(success(payloadOf({})).body.length, 0)
  const payload = {
    ...payloadOf({ encoding: 'x/y' }, 'ab'),
    externalPayloads: [{ sizeBytes: 300n }, { sizeBytes: 0n }],
  }
  assert.equal(
    Buffer.from(success(payload).body).toString('hex'),
    `0a0f0a08${Buffer.from('encoding').toString('hex')}1203${Buffer.from('x/y').toString('hex')}` +
      `1202${Buffer.from('ab').toString('hex')}1a0308ac021a00`,
  )
})

test('metadata that would become a bad header is found, other metadata is left alone', () => {
  const nexus = { encoding: 'unknown/nexus-content' }
  const cases: [metadata: Record<string, string>, problem: RegExp | undefined][] = [
    [{ ...nexus, type: 'text/plain' }, undefined],
    [{ ...nexus, type: 'a\r\nX: y' }, /content-type/],
    [{ ...nexus, type: 'a\0' }, /content-type/],
    [{ ...nexus, type: 'a\tb' }, /content-type/],
    [{ ...nexus, 'a b': 'x' }, /"a b"/],
    [{ ...nexus, 'a\r\nb': 'x' }, /"a\\r\\nb"/],
    [{ ...nexus, '': 'x' }, /""/],
    [{ ...nexus, ü: 'x' }, /"ü"/],
    [{ ...nexus, Length: '\r\n' }, undefined],
    [{ encoding: 'json/protobuf', messageType: 'a\nb' }, /content-type/],
    [{ encoding: 'binary/protobuf', messageType: 'a\x7fb' }, /content-type/],
    [{ encoding: 'json/plain', messageType: 'a\nb' }, undefined],
    [{ 'a b': '\r\n' }, undefined],
  ]
  for (const [metadata, problem] of cases) {
    const found = findMetadataProblem(payloadOf(metadata), 8_192)
    if (problem === undefined) assert.equal(found, undefined, JSON.stringify(metadata))
    else assert.match(found ?? '', problem)
  }
})

test('metadata may become headers of as many bytes as headers may have', () => {
  const payload = payloadOf({ encoding: 'unknown/nexus-content', type: 'text/plain' })
  const bytes = 'content-type'.length + 'text/plain'.length
  assert.equal(findMetadataProblem(payload, bytes), undefined)
  assert.match(findMetadataProblem(payload, bytes - 1) ?? '', /header size is 22 bytes/)
})

test('metadata that would become a header has to be text; what is sent as it is need not be', () => {
  const broken = new Uint8Array([0x61, 0xff, 0xfe])
  const withBytes = (metadata: Record<string, string>, key: string) => {
    const payload = payloadOf(metadata)
    payload.metadata[key] = broken
    return findMetadataProblem(payload, 8_192)
  }
  const utf8 = (key: string) => `completion metadata for "${key}" must be UTF-8`
  assert.equal(withBytes({ encoding: 'unknown/nexus-content' }, 'type'), utf8('type'))
  assert.equal(withBytes({ encoding: 'json/protobuf' }, 'messageType'), utf8('messageType'))
  assert.equal(withBytes({ encoding: 'json/plain' }, 'messageType'), undefined)
  assert.equal(withBytes({ encoding: 'json/protobuf', other: 'x' }, 'messageType'), undefined)
  assert.equal(withBytes({}, 'encoding'), undefined)
})

test('the state is canceled exactly when the failure itself says so', () => {
  const canceled = failureOf({ failureInfo: infoOf('canceledFailureInfo', { identity: '' }) })
  assert.equal(failed(canceled).state, 'canceled')
  assert.equal(failed(failureOf({ cause: canceled })).state, 'failed')
  assert.equal(failed(failureOf()).state, 'failed')
  assert.equal(failed(failureOf({ failureInfo: infoOf('terminatedFailureInfo', { identity: 'x' }) })).state, 'failed')
})

test('a failure is described with message, stack trace, type, details and cause', () => {
  const cause = failureOf({ message: 'disk full', source: 'db', stackTrace: 'at y' })
  const { json } = failed(
    failureOf({
      message: 'no <luck> ü',
      source: 'shop',
      stackTrace: 'at x',
      cause,
      failureInfo: infoOf('applicationFailureInfo', { type: 'Broken', nonRetryable: true, category: 0 }),
    }),
  )
  assert.deepEqual(json, {
    message: 'no <luck> ü',
    stackTrace: 'at x',
    metadata: { type: 'temporal.api.failure.v1.Failure' },
    details: {
      source: 'shop',
      cause: { message: 'disk full', source: 'db', stackTrace: 'at y' },
      applicationFailureInfo: { type: 'Broken', nonRetryable: true },
    },
    cause: {
      message: 'disk full',
      stackTrace: 'at y',
      metadata: { type: 'temporal.api.failure.v1.Failure' },
      details: { source: 'db' },
    },
  })
})

test('an empty failure has a message, a type and empty details', () => {
  assert.deepEqual(failed(failureOf()).json, {
    message: '',
    metadata: { type: 'temporal.api.failure.v1.Failure' },
    details: {},
  })
})

test('every kind of failure keeps all of its members', () => {
  const details = { payloads: [payloadOf({ encoding: 'json/plain' }, '1'), payloadOf({})] }
  const detailsJson = { payloads: [{ metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'MQ==' }, {}] }
  const cases: [Failure['failureInfo'], unknown][] = [
    [
      infoOf('applicationFailureInfo', {
        type: 'T',
        nonRetryable: false,
        details,
        nextRetryDelay: { seconds: 1n, nanos: 500_000_000 },
        category: 1,
      }),
      { type: 'T', details: detailsJson, nextRetryDelay: '1.500s', category: 'APPLICATION_ERROR_CATEGORY_BENIGN' },
    ],
    [
      infoOf('timeoutFailureInfo', { timeoutType: 3, lastHeartbeatDetails: details }),
      { timeoutType: 'TIMEOUT_TYPE_SCHEDULE_TO_CLOSE', lastHeartbeatDetails: detailsJson },
    ],
    [infoOf('timeoutFailureInfo', { timeoutType: 99 }), { timeoutType: 99 }],
    [infoOf('canceledFailureInfo', { details: { payloads: [] }, identity: 'w' }), { details: {}, identity: 'w' }],
    [infoOf('canceledFailureInfo', { identity: '' }), {}],
    [infoOf('terminatedFailureInfo', { identity: 'w' }), { identity: 'w' }],
    [infoOf('serverFailureInfo', { nonRetryable: true }), { nonRetryable: true }],
    [infoOf('resetWorkflowFailureInfo', { lastHeartbeatDetails: details }), { lastHeartbeatDetails: detailsJson }],
    [
      infoOf('activityFailureInfo', {
        scheduledEventId: 9_007_199_254_740_993n,
        startedEventId: 0n,
        identity: 'w',
        activityType: { name: 'pay' },
        activityId: '7',
        retryState: 4,
      }),
      {
        scheduledEventId: '9007199254740993',
        identity: 'w',
        activityType: { name: 'pay' },
        activityId: '7',
        retryState: 'RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED',
      },
    ],
    [
      infoOf('childWorkflowExecutionFailureInfo', {
        namespace: 'n',
        workflowExecution: { workflowId: 'w', runId: 'r' },
        workflowType: { name: '' },
        initiatedEventId: 1n,
        startedEventId: -2n,
        retryState: 1,
      }),
      {
        namespace: 'n',
        workflowExecution: { workflowId: 'w', runId: 'r' },
        workflowType: {},
        initiatedEventId: '1',
        startedEventId: '-2',
        retryState: 'RETRY_STATE_IN_PROGRESS',
      },
    ],
    [
      infoOf('nexusOperationExecutionFailureInfo', {
        scheduledEventId: 5n,
        endpoint: 'e',
        service: 's',
        operation: 'o',
        operationId: 'i',
        operationToken: 't',
      }),
      { scheduledEventId: '5', endpoint: 'e', service: 's', operation: 'o', operationId: 'i', operationToken: 't' },
    ],
  ]
  for (const [failureInfo, expected] of cases) {
    assert.deepEqual(failed(failureOf({ failureInfo })).json.details, { [failureInfo.case as string]: expected })
  }
})

test('every reason why nothing was tried again, and every kind of timeout, has its name', () => {
  const retryStates = 'IN_PROGRESS NON_RETRYABLE_FAILURE TIMEOUT MAXIMUM_ATTEMPTS_REACHED RETRY_POLICY_NOT_SET'
  for (const [at, name] of `${retryStates} INTERNAL_SERVER_ERROR CANCEL_REQUESTED`.split(' ').entries()) {
    const activity = { scheduledEventId: 0n, startedEventId: 0n, identity: '', activityId: '', retryState: at + 1 }
    const { details } = failed(failureOf({ failureInfo: infoOf('activityFailureInfo', activity) })).json
    assert.deepEqual(details.activityFailureInfo, { retryState: `RETRY_STATE_${name}` })
  }
  for (const [at, name] of ['START_TO_CLOSE', 'SCHEDULE_TO_START', 'SCHEDULE_TO_CLOSE', 'HEARTBEAT'].entries()) {
    const failureInfo = infoOf('timeoutFailureInfo', { timeoutType: at + 1 })
    const { details } = failed(failureOf({ failureInfo })).json
    assert.deepEqual(details.timeoutFailureInfo, { timeoutType: `TIMEOUT_TYPE_${name}` })
  }
})

test('payloads inside a failure are written canonically, never in short', () => {
  const encodedAttributes = {
    ...payloadOf({ encoding: 'json/plain' }, '{"a":1}'),
    externalPayloads: [{ sizeBytes: 3n }],
  }
  assert.deepEqual(failed(failureOf({ encodedAttributes })).json.details, {
    encodedAttributes: {
      metadata: { encoding: 'anNvbi9wbGFpbg==' },
      data: 'eyJhIjoxfQ==',
      externalPayloads: [{ sizeBytes: '3' }],
    },
  })
})

test('durations have 0, 3, 6 or 9 digits', () => {
  const cases: [seconds: bigint, nanos: number, text: string][] = [
    [0n, 0, '0s'],
    [10n, 0, '10s'],
    [0n, 500_000_000, '0.500s'],
    [0n, 1_000, '0.000001s'],
    [0n, 1, '0.000000001s'],
    [1n, 100_000, '1.000100s'],
    [-1n, -500_000_000, '-1.500s'],
    [-1n, 0, '-1s'],
    [0n, -20_000_000, '-0.020s'],
  ]
  for (const [seconds, nanos, text] of cases) {
    const nextRetryDelay = { seconds, nanos }
    const failureInfo = infoOf('applicationFailureInfo', { type: '', nonRetryable: false, category: 0, nextRetryDelay })
    assert.equal(failed(failureOf({ failureInfo })).json.details.applicationFailureInfo.nextRetryDelay, text)
  }
})

test('a handler error becomes one, also as a cause, and keeps its canonical form in the details around it', () => {
  const encodedAttributes = payloadOf({ encoding: 'json/plain' }, '"?>?>"')
  const handler = (retryBehavior: number, members: Partial<Failure> = {}) =>
    failureOf({
      message: 'm',
      failureInfo: infoOf('nexusHandlerFailureInfo', { type: 'INTERNAL', retryBehavior }),
      ...members,
    })
  const metadata = { type: 'nexus.HandlerError' }
  assert.deepEqual(failed(handler(0)).json, { message: 'm', metadata, details: { type: 'INTERNAL' } })
  assert.deepEqual(failed(handler(1)).json.details, { type: 'INTERNAL', retryableOverride: true })
  assert.deepEqual(failed(handler(2)).json.details, { type: 'INTERNAL', retryableOverride: false })
  assert.deepEqual(failed(handler(7)).json.details, { type: 'INTERNAL' })

  const { json } = failed(failureOf({ message: 'top', cause: handler(2, { stackTrace: 's', encodedAttributes }) }))
  const attributes = { metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'Ij8+Pz4i' }
  assert.deepEqual(json.cause, {
    message: 'm',
    stackTrace: 's',
    metadata,
    details: {
      type: 'INTERNAL',
      retryableOverride: false,
      encodedAttributes: Buffer.from(JSON.stringify(attributes)).toString('base64url'),
    },
  })
  assert.doesNotMatch(json.cause.details.encodedAttributes, /[+/=]/)
  assert.deepEqual(json.details.cause, {
    message: 'm',
    stackTrace: 's',
    encodedAttributes: attributes,
    nexusHandlerFailureInfo: { type: 'INTERNAL', retryBehavior: 'NEXUS_HANDLER_ERROR_RETRY_BEHAVIOR_NON_RETRYABLE' },
  })
})

test('what a generated message holds beside its members is not written', () => {
  const value = { $typeName: 'x.Y', $unknown: [{ no: 9 }], identity: 'w' }
  const failureInfo = infoOf('terminatedFailureInfo', value)
  assert.deepEqual(failed(failureOf({ failureInfo })).json.details, { terminatedFailureInfo: { identity: 'w' } })
})

test('the causes of a failure are all there, in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 21 }), (messages) => {
      let failure: Failure | undefined
      for (const message of messages.toReversed()) failure = failureOf({ message, cause: failure })
      let json = failed(failure as Failure).json
      for (const message of messages) {
        assert.equal(json.message, message)
        json = json.cause
      }
      assert.equal(json, undefined)
    }),
    { numRuns: 30 },
  )
})

test('how large the body of a failure will be is known before it is made', () => {
  const kinds = fc.constantFrom<Failure['failureInfo']>(
    { case: undefined },
    infoOf('serverFailureInfo', { nonRetryable: true }),
    infoOf('nexusHandlerFailureInfo', { type: 'INTERNAL', retryBehavior: 2 }),
  )
  const text = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text, kinds), { minLength: 1, maxLength: 21 }), (levels) => {
      let cause: Failure | undefined
      for (const [message, source, failureInfo] of levels) cause = failureOf({ message, source, failureInfo, cause })
      const completion = { result: { case: 'failure', value: cause as Failure } } as const
      const spare = bodyBytes(completion, 0) - completionBody(completion).body.byteLength
      assert.ok(spare >= 0 && spare <= 20 * levels.length + 20, `${spare}`)
    }),
    { numRuns: 50 },
  )
})
