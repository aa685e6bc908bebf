import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsIn } from '../../platform/config/setting.ts'
import type { AppError } from '../../platform/errors/app-error.ts'
import { readNamespaceChange, readNewNamespace } from './namespace-wish.ts'
import { camelCase, SHOWN_POLICY } from './policy-json.ts'

function problemsOf(json: unknown): string[] {
  try {
    readNewNamespace(json)
  } catch (error) {
    assert.equal((error as AppError).code, 'invalid_argument')
    return (error as AppError).problems
  }
  return []
}

test('a body is read into what the program uses', () => {
  const wish = readNewNamespace({
    name: 'orders',
    retention: '604800s',
    retry: { maxInterval: '5m', coefficient: 1.5 },
    allowedAddresses: [{ pattern: '*.example.org' }, { pattern: 'localhost:*', allowInsecure: true }],
    searchAttributes: { CustomerId: 'Keyword' },
  })
  assert.equal(wish.name, 'orders')
  assert.deepEqual(wish.set, {
    retention: 604_800_000,
    retry: { max_interval: 300_000, coefficient: 1.5 },
    allowed_addresses: [
      { pattern: '*.example.org', allow_insecure: false },
      { pattern: 'localhost:*', allow_insecure: true },
    ],
  })
  assert.deepEqual([wish.unset, wish.searchAttributes], [[], { CustomerId: 'Keyword' }])
})

test('both spellings of a member are read, but not both at once', () => {
  const camel = {
    requestTimeout: '5s',
    retry: { maxInterval: '1h' },
    allowedAddresses: [{ pattern: '*', allowInsecure: true }],
  }
  const snake = {
    request_timeout: '5s',
    retry: { max_interval: '1h' },
    allowed_addresses: [{ pattern: '*', allow_insecure: true }],
  }
  assert.deepEqual(readNamespaceChange(snake), readNamespaceChange(camel))
  assert.deepEqual(readNamespaceChange({ search_attributes: { A: 'Int' } }).searchAttributes, { A: 'Int' })
  assert.deepEqual(problemsOf({ name: 'a', ...camel, request_timeout: '6s' }), [
    'request_timeout is not a known member',
  ])
  assert.deepEqual(problemsOf({ name: 'a', search_attributes: {}, searchAttributes: {} }), [
    'search_attributes is not a known member',
  ])
})

test('null takes an override back, except where null is a value', () => {
  const wish = readNamespaceChange({
    retention: null,
    retry: { maxInterval: null },
    breaker: null,
    scheduleToClose: { default: null, max: '30d' },
  })
  assert.deepEqual(wish.unset?.toSorted(), ['breaker', 'retention', 'retry.max_interval'])
  assert.deepEqual(wish.set, { retry: {}, schedule_to_close: { default: null, max: 2_592_000_000 } })
})

test('every key of the section can be set, but for the secrets, which have a member of their own', () => {
  for (const { path, setting } of settingsIn(SHOWN_POLICY)) {
    if (setting.kind === 'group') continue
    const camel = path.map(camelCase)
    const example = JSON.parse(JSON.stringify(setting.example).replaceAll('allow_insecure', 'allowInsecure'))
    const body = camel.reduceRight<unknown>((inner, step) => ({ [step]: inner }), example)
    assert.deepEqual(problemsOf({ name: 'a', ...(body as object) }), [], path.join('.'))
  }
  assert.deepEqual(problemsOf({ name: 'a', signingSecrets: [] }), ['signingSecrets is not a known member'])
})

test('every problem is named at once, with its place', () => {
  const problems = problemsOf({
    name: 'a b',
    description: 'bell\u0007',
    retention: '1h',
    other: 1,
    retry: { maxInterval: 5, more: 2 },
    allowedAddresses: [{ allowInsecure: true }, { pattern: 'x', port: 1 }],
    deniedPorts: [0],
    enabled: 'yes',
    searchAttributes: { RunId: 'Keyword', Amount: 'Money' },
    signing: { secrets: ['whsec_short'], generate: true },
  })
  assert.deepEqual(
    problems.map((problem) => problem.split(' ')[0]),
    [
      'other',
      'name',
      'description',
      'searchAttributes.Amount',
      'searchAttributes',
      'signing.secrets[0]',
      'signing',
      'enabled',
      'allowedAddresses[0].pattern',
      'allowedAddresses[1].port',
      'deniedPorts[0]',
      'retry.more',
      'retry.maxInterval',
      'retention',
    ],
  )
  assert.ok(problems.includes('retention must be a duration from 1d to 36500d'))
  assert.ok(!problems.join().includes('whsec_short'))
})

test('what is no object is refused', () => {
  for (const body of [null, undefined, [], 'text', 7]) assert.equal(problemsOf(body).length, 1)
  assert.deepEqual(problemsOf({}), ['name is required'])
})

test('names of attributes that an object has by itself are names like others', () => {
  const { searchAttributes } = readNamespaceChange({ searchAttributes: { constructor: 'Keyword', toString: 'Int' } })
  assert.deepEqual(Object.keys(searchAttributes ?? {}), ['constructor', 'toString'])
  for (const name of ['', '1st', 'a b', 'ä', 'x'.repeat(129)]) {
    assert.match(
      problemsOf({ name: 'a', searchAttributes: { [name]: 'Int' } })[0] ?? '',
      /^searchAttributes must have names/,
    )
  }
  for (const name of ['ExecutionStatus', 'CallbackId', 'RunId', 'StartTime', 'CreateTime', 'CloseTime']) {
    assert.match(problemsOf({ name: 'a', searchAttributes: { [name]: 'Int' } })[0] ?? '', /every callback has/)
  }
})
