import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Value } from './condition.ts'
import { fieldCatalogue } from './fields.ts'
import { parseInstant } from './parse-instant.ts'
import { parseNanoseconds } from './parse-nanoseconds.ts'
import { parseQuery } from './parse-query.ts'

const CATALOGUE = fieldCatalogue({ I: 'Int', D: 'Double', B: 'Bool', T: 'Text' })

function readAs(field: string, written: string): Value {
  const { condition } = parseQuery(`${field} = ${written}`, CATALOGUE, { allowsGroupBy: false })
  return condition?.kind === 'compare' ? condition.value : assert.fail()
}

function refuses(field: string, ...written: string[]): void {
  for (const each of written) assert.throws(() => readAs(field, each), /^AppError: invalid query/, each)
}

test('an Int has 64 bits and nothing behind a point', () => {
  assert.equal(readAs('I', '9223372036854775807'), 9_223_372_036_854_775_807n)
  assert.equal(readAs('I', '-9223372036854775808'), -9_223_372_036_854_775_808n)
  assert.equal(readAs('I', `${'0'.repeat(100)}7`), 7n)
  assert.equal(readAs('I', '+7'), 7n)
  refuses('I', '9223372036854775808', '-9223372036854775809', '9'.repeat(5_000), '1.0', '1e3', '"1"', '- 1', '.5')
})

test('a Double is any finite number', () => {
  assert.equal(readAs('D', '-1.5e3'), -1500)
  assert.equal(readAs('D', '3'), 3)
  assert.equal(readAs('D', '-.5'), -0.5)
  refuses('D', '1e999', '"1"', '1.', '1e', '0x10', 'NaN')
})

test('a Bool is a bare word in any case', () => {
  assert.equal(readAs('B', 'True'), true)
  assert.equal(readAs('B', 'FALSE'), false)
  refuses('B', "'true'", '1', 'yes')
})

test('a Text without a word is refused', () => {
  refuses('T', "''", "' - !'", '5')
})

test('the long name of a status is a synonym, and an unknown status is no mistake', () => {
  assert.equal(readAs('ExecutionStatus', "'CALLBACK_EXECUTION_STATUS_TERMINATED'"), 'Terminated')
  assert.equal(readAs('ExecutionStatus', "'Running'"), 'Running')
  for (const unknown of ['running', 'TimedOut', 'CALLBACK_EXECUTION_STATUS_UNSPECIFIED', '']) {
    assert.equal(readAs('ExecutionStatus', `'${unknown}'`), unknown)
  }
})

test('a duration is nanoseconds or a text with units', () => {
  assert.equal(readAs('ExecutionDuration', '300000000000'), 300_000_000_000n)
  assert.equal(readAs('ExecutionDuration', '"5m"'), 300_000_000_000n)
  refuses('ExecutionDuration', '"5"', '"5 m"', '""', '1.5', '"5y"')
})

test('a duration may be written as a clock shows it', () => {
  const [second, minute] = [1_000_000_000n, 60_000_000_000n]
  assert.equal(readAs('ExecutionDuration', '"00:01:30"'), minute + 30n * second)
  assert.equal(readAs('ExecutionDuration', "'100:0:5'"), 6_000n * minute + 5n * second)
  refuses('ExecutionDuration', '"00:60:00"', '"00:00:60"', '"1:30"', '":1:1"', '"-1:00:00"', '"2562048:00:00"')
})

test('durations add up their parts and cut off what is finer than a nanosecond', () => {
  const hour = 3_600_000_000_000n
  const cases: [string, bigint][] = [
    ['1h30m', hour + hour / 2n],
    ['-1.5h', -hour - hour / 2n],
    ['+2d', 48n * hour],
    ['1.0000000019s', 1_000_000_001n],
    ['3us4µs5μs6ns', 12_006n],
    ['250ms', 250_000_000n],
    ['0', 0n],
    ['-0', 0n],
  ]
  for (const [text, nanoseconds] of cases) assert.equal(parseNanoseconds(text), nanoseconds, text)
  for (const text of ['', '-', '1', 'h', '1h-2m', '1h ', '106752d', '1.h', '--1s']) {
    assert.equal(parseNanoseconds(text), undefined, text)
  }
})

test('times are RFC 3339 with an offset, cut off at microseconds', () => {
  const cases: [string, bigint][] = [
    ['1970-01-01T00:00:00Z', 0n],
    ['1970-01-01t00:00:00.1234567899z', 123_456n],
    ['1970-01-01T01:30:00+01:30', 0n],
    ['1969-12-31T23:00:00.5-01:00', 500_000n],
    ['1969-12-31T23:59:59.9999999Z', -1n],
    ['2024-02-29T12:00:00Z', 1_709_208_000_000_000n],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000_000n],
    ['9999-12-31T23:59:59.999999Z', 253_402_300_799_999_999n],
  ]
  for (const [text, micros] of cases) assert.equal(parseInstant(text), micros, text)
})

test('what is no time of the calendar is refused', () => {
  for (const text of [
    ...['2026-01-01', '2026-01-01T00:00:00', '2026-01-01 00:00:00Z', '2026-01-01T00:00Z', '26-01-01T00:00:00Z'],
    ...['2026-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-10T00:00:00Z', '2026-01-32T00:00:00Z'],
    ...['2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2026-01-01T00:00:60Z', '2026-01-01T00:00:00+24:00'],
    ...['2026-01-01T00:00:00+00:60', '2026-01-01T00:00:00Z ', '2026-01-01T00:00:00+01:000'],
    ...['2026-01-01T00:00:00.Z', '2026-01-01T00:00:00+0100', ' 2026-01-01T00:00:00Z', '1767225600'],
  ]) {
    assert.equal(parseInstant(text), undefined, text)
  }
})
