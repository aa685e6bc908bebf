import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../../platform/errors/app-error.ts'
import { FIRST_DAY, LAST_DAY } from '../iso-time.ts'
import type { JsonValue, Metadata } from './metadata.ts'
import * as read from './note-metadata.ts'

test('the title is written out, and the stem where there is none', () => {
  const titles: [JsonValue, string][] = [
    ['A title', 'A title'],
    [['a', 2, null], 'a, 2'],
    [7, '7'],
    [true, 'true'],
    [null, 'stem'],
    ['', 'stem'],
    ['  ', 'stem'],
    ['None', 'stem'],
    [[], 'stem'],
    [{ a: 1 }, 'stem'],
  ]
  for (const [title, expected] of titles) assert.equal(read.titleOf({ title }, 'stem'), expected)
  assert.equal(read.titleOf({}, 'stem'), 'stem')
})

test('the type is note unless said', () => {
  assert.equal(read.typeOf({ type: 'Person' }), 'Person')
  assert.equal(read.typeOf({ type: ['a', 'b'] }), 'a, b')
  assert.equal(read.typeOf({ type: null }), 'note')
  assert.equal(read.typeOf({}), 'note')
})

test('a permalink is a text that is not empty', () => {
  assert.equal(read.permalinkOf({ permalink: 'main/x' }), 'main/x')
  for (const permalink of ['', ' ', 5, null, ['a'], true]) assert.equal(read.permalinkOf({ permalink }), null)
})

test('tags and aliases are lists', () => {
  assert.deepEqual(read.tagsOf({ tags: '#a, b' }), ['a', 'b'])
  assert.deepEqual(read.aliasesOf({ aliases: ['A, B', 'C'] }), ['A, B', 'C'])
  assert.deepEqual(read.aliasesOf({}), [])
})

test('times are ISO 8601, in UTC unless said', () => {
  const micros = (text: string) => Date.parse(text) * 1000
  const times: [string, number][] = [
    ['2026-01-31', micros('2026-01-31T00:00:00Z')],
    ['2026-01-31T10:20', micros('2026-01-31T10:20:00Z')],
    ['2026-01-31 10:20:30', micros('2026-01-31T10:20:30Z')],
    ['2026-01-31T10:20:30.123456Z', micros('2026-01-31T10:20:30.123Z') + 456],
    ['2026-01-31T10:20:30,5+02:00', micros('2026-01-31T08:20:30.500Z')],
    ['2026-01-31T10:20:30-0530', micros('2026-01-31T15:50:30Z')],
    ['2026-01-31 10:20:30 +02', micros('2026-01-31T08:20:30Z')],
    ['2024-02-29', micros('2024-02-29T00:00:00Z')],
    ['1969-12-31', micros('1969-12-31T00:00:00Z')],
    ['20240102', micros('2024-01-02T00:00:00Z')],
    ['20240102T030405Z', micros('2024-01-02T03:04:05Z')],
    ['20240102T030405.5+0200', micros('2024-01-02T01:04:05.500Z')],
    ['20240102T0304', micros('2024-01-02T03:04:00Z')],
    ['2024-01-02T03', micros('2024-01-02T03:00:00Z')],
    ['2024-01-02T03-05', micros('2024-01-02T08:00:00Z')],
    ['2024-01-02T24:00:00Z', micros('2024-01-03T00:00:00Z')],
    ['2024-12-31T24:00', micros('2025-01-01T00:00:00Z')],
    ['2024-W05-1', micros('2024-01-29T00:00:00Z')],
    ['2024W051', micros('2024-01-29T00:00:00Z')],
    ['2020-W53-7T10:00', micros('2021-01-03T10:00:00Z')],
    ['2025-W01-1', micros('2024-12-30T00:00:00Z')],
    ['2024-032', micros('2024-02-01T00:00:00Z')],
    ['2024366', micros('2024-12-31T00:00:00Z')],
    [FIRST_DAY, micros(`${FIRST_DAY}T00:00:00Z`)],
    [`${LAST_DAY}T23:59:59.999999Z`, micros(`${LAST_DAY}T23:59:59.999Z`) + 999],
  ]
  for (const [text, expected] of times) assert.deepEqual(read.timesOf({ created: text }), { created: expected })
  assert.deepEqual(read.timesOf({ created: ' 2024-01-02 ' }), { created: micros('2024-01-02T00:00:00Z') })
  assert.deepEqual(read.timesOf({ created: null }), {})
  assert.deepEqual(Object.keys(read.timesOf({ modified: '2026-01-31' })), ['modified'])
})

test('a time that cannot be read is refused by its name', () => {
  const bad: JsonValue[] = [
    'yesterday',
    '31.01.2026',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29',
    '2026-01-31T25:00',
    20260131,
  ]
  for (const value of [
    ...bad,
    '2026-01-31T10:00:60Z',
    '9999-01-01',
    '0001-01-01',
    true,
    ['2026-01-31'],
    '2026-01-31T',
    '',
    ' ',
    '2026',
    '202601',
    '20261301',
    '2026-01-00',
    '2026-00-01',
    '2025-366',
    '2026-000',
    '2026-W53-1x',
    '2025-W53-1',
    '2026-W00-1',
    '2026-W01-8',
    '2026-01-31T24:00:01',
    '2026-01-31T24:00:00.000001',
    '2026-01-31T24:01',
    '2026-01-31Z',
    '2026-01-31T1',
  ]) {
    for (const field of ['created', 'modified']) {
      assert.throws(
        () => read.timesOf({ [field]: value }),
        (error) => isAppError(error, 'invalid_argument') && error.message.includes(`"${field}"`),
        JSON.stringify(value),
      )
    }
  }
})

test('a time that cannot be kept exactly is refused with the days that can', () => {
  for (const created of [
    '0000-01-01',
    '0001-01-01',
    '0099-12-31',
    '1684-07-27',
    '2255-06-07',
    '9999-12-31',
    '9999-W52-5',
  ]) {
    assert.throws(() => read.timesOf({ created }), {
      code: 'invalid_argument',
      message: /"created" must lie between 1684-07-29 and 2255-06-04/,
    })
  }
})

test('a note is embedded unless it says no', () => {
  for (const embed of [false, 0, '0', 'no', 'No', 'off', 'false', ' FALSE '])
    assert.equal(read.embedOf({ embed }), false)
  for (const embed of [true, 1, 'yes', 'x', null, [], 2]) assert.equal(read.embedOf({ embed }), true)
  assert.equal(read.embedOf({}), true)
})

test('answers show no nulls, and tags as a list', () => {
  const metadata: Metadata = { title: 'T', none: null, tags: '#a, b', n: 3, flag: true, date: '2026-01-31' }
  assert.deepEqual(read.answerMetadata(metadata), {
    title: 'T',
    tags: ['a', 'b'],
    n: 3,
    flag: true,
    date: '2026-01-31',
  })
})

test('types are compared in one form', () => {
  const types = ['Person', 'person', ' person ']
  for (const type of types) assert.equal(read.canonicalType(type), 'person')
  for (const type of ['MeetingNote', 'meeting note', 'meeting-note', 'meeting.note', 'Meeting\\Note', 'meeting_note']) {
    assert.equal(read.canonicalType(type), 'meeting_note')
  }
  for (const type of ['v2-Long.Type Name', 'v2LongTypeName', ' V2_long\\type-name']) {
    assert.equal(read.canonicalType(type), 'v2_long_type_name')
  }
})

test('keys that every object inherits are not metadata', () => {
  const metadata = Object.create({ title: 'inherited', tags: 'x' }) as Metadata
  assert.equal(read.titleOf(metadata, 'stem'), 'stem')
  assert.deepEqual(read.tagsOf(metadata), [])
})
