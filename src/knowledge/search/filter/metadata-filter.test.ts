import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { isAppError } from '../../../platform/errors/app-error.ts'
import { ownTypeWord } from '../index/search-scope.ts'
import { parseMetadataFilters } from './metadata-filter.ts'
import { metadataValues, passesFilters } from './metadata-values.ts'
import { filterWords, metadataWords } from './metadata-words.ts'

const TYPE_KEY = 'meeting_note'
const METADATA = {
  type: 'Meeting Note',
  status: 'draft',
  priority: 9,
  version: '1.10',
  done: false,
  told: 'True',
  tags: 'Red, blue, 3.10, 2024',
  id: '1234567890123456781',
  nested: { deep: { key: 'x' }, list: [1, 2] },
  nothing: null,
  date: '2026-02-01',
  zero: -0,
  cold: '-5',
  part: '25e-1',
  word: 'Trueish',
  city: 'Zu\u0308rich',
  cities: ['K\u00f6ln', 'A\u030angermu\u0308nde \u00fcberall'],
}

const CASES: [filters: Record<string, unknown>, passes: boolean][] = [
  [{}, true],
  [{ status: 'draft' }, true],
  [{ status: 'Draft' }, false],
  [{ priority: '9.0' }, true],
  [{ version: 1.1 }, true],
  [{ done: false }, true],
  [{ done: 'false' }, true],
  [{ done: 'False' }, true],
  [{ done: ['FALSE'] }, true],
  [{ done: 0 }, false],
  [{ told: true }, true],
  [{ told: 'true' }, true],
  [{ told: false }, false],
  [{ tags: ['red', 'BLUE'] }, true],
  [{ tags: ['red', 'green'] }, false],
  [{ 'nested.deep.key': 'x' }, true],
  [{ 'nested.list': 2 }, true],
  [{ 'nested.deep': 'x' }, false],
  [{ nothing: 'null' }, false],
  [{ priority: { $in: [1, 9] } }, true],
  [{ priority: { $gt: 9 } }, false],
  [{ priority: { $gt: 10 } }, false],
  [{ priority: { $gt: 8 } }, true],
  [{ priority: { $gt: -1 } }, true],
  [{ priority: { $gt: '1e1' } }, false],
  [{ priority: { $gte: 9 } }, true],
  [{ priority: { $gte: 9.01 } }, false],
  [{ priority: { $lte: 9 } }, true],
  [{ priority: { $lte: '8.9E-1' } }, false],
  [{ priority: { $between: [10, 11] } }, false],
  [{ priority: { $between: [1, 8] } }, false],
  [{ priority: { $between: [5, 11] } }, true],
  [{ priority: '0x9' }, false],
  [{ priority: ' 9' }, false],
  [{ cold: { $lt: '-4' } }, true],
  [{ part: { $lt: '2.6' } }, true],
  [{ word: 'trueish' }, false],
  [{ version: { $gt: 'v1' } }, false],
  [{ status: { $gt: 5 } }, true],
  [{ told: { $in: ['truer', 'TRUE'] } }, true],
  [{ status: { $in: ['drafty', 'raft'] } }, false],
  [{ priority: { $lt: '10' } }, true],
  [{ date: { $between: ['2026-01-01', '2026-02-01'] } }, true],
  [{ date: { $lt: '2026-02-01' } }, false],
  [{ missing: { $lt: 'x' } }, false],
  [{ zero: 0 }, true],
  [{ tags: '#red' }, true],
  [{ tags: ['##Red', 'blue'] }, true],
  [{ tags: '#' }, false],
  [{ status: '#draft' }, false],
  [{ city: 'Z\u00fcrich' }, true],
  [{ city: 'Zu\u0308rich' }, true],
  [{ city: 'Zurich' }, false],
  [{ cities: ['Ko\u0308ln', '\u00c5ngerm\u00fcnde \u00fcberall'] }, true],
  [{ cities: { $in: ['\u212bngermu\u0308nde u\u0308berall', 'x'] } }, true],
  [{ city: { $between: ['Z\u00fcrich', 'Z\u00fcrich'] } }, true],
  [{ city: { $gt: 'Z\u00fcrich' } }, false],
  [{ type: 'Meeting Note' }, true],
  [{ type: 'meetingNote' }, true],
  [{ type: ['meeting-note'] }, true],
  [{ type: ['meeting-note', 'note'] }, false],
  [{ type: { $in: ['note', ' meeting_note '] } }, true],
  [{ type: 'meetingnote' }, false],
  [{ kind: 'meeting_note' }, false],
  [{ id: '1234567890123456781' }, true],
  [{ id: '+1234567890123456781' }, true],
  [{ id: '1234567890123456782' }, false],
  [{ id: 1234567890123456800 }, true],
  [{ id: { $in: ['1234567890123456782', '1234567890123456783'] } }, false],
  [{ id: ['1234567890123456782'] }, false],
  [{ id: { $gt: '1234567890123456780' } }, true],
  [{ id: { $gt: '1234567890123456781' } }, false],
  [{ id: { $lte: '1234567890123456780' } }, false],
  [{ id: { $lt: '1234567890123456781.5' } }, false],
  [{ tags: '3.10' }, true],
  [{ tags: ['#3.10', 'RED'] }, true],
  [{ tags: '3.1' }, false],
  [{ tags: 3.1 }, false],
  [{ tags: 2024 }, true],
]
for (const [filters, expected] of CASES) {
  test(`${JSON.stringify(filters)} ${expected ? 'passes' : 'does not pass'}`, () => {
    const parsed = parseMetadataFilters(filters)
    assert.equal(passesFilters(metadataValues(METADATA), TYPE_KEY, parsed), expected)
    // What passes has the words by which the index finds it.
    const words = new Set([ownTypeWord(TYPE_KEY), ...metadataWords(METADATA)])
    const isFound = filterWords(parsed).every((group) => group.some((word) => words.has(word)))
    assert.ok(!expected || isFound)
  })
}

const REFUSED: unknown[] = [
  'text',
  ['a'],
  { 'bad key': 1 },
  { '': 1 },
  { 'a..b': 1 },
  { __proto__x: { $regex: 'a' } },
  { a: {} },
  { a: { $gt: 1, $lt: 2 } },
  { a: [] },
  { a: { $in: [] } },
  { a: { $in: 'x' } },
  { a: { $between: [1] } },
  { a: { $between: [1, 2, 3] } },
  { a: Array(101).fill('x') },
  { a: { $in: Array(101).fill('x') } },
  { ['k'.repeat(2_000)]: 1 },
  { a: { $gt: [1] } },
  { a: null },
  { a: [{}] },
  { a: Number.NaN },
  Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, 1])),
]
for (const value of REFUSED) {
  test(`${JSON.stringify(value).slice(0, 60)} is refused`, () => {
    assert.throws(
      () => parseMetadataFilters(value),
      (error) => isAppError(error, 'invalid_argument'),
    )
  })
}

test('keys have letters of either case, digits, hyphens and underscores, in names with dots between', () => {
  for (const key of ['Status', 'status2', '2nd', 'due-date', 'due_date', 'A-1.b_2.C3']) {
    assert.equal(parseMetadataFilters({ [key]: 1 })[0]?.key, key)
  }
  assert.equal(parseMetadataFilters({ a: Array(100).fill('x') }).length, 1)
})

test('no filters at all are none', () => {
  assert.deepEqual(parseMetadataFilters(undefined), [])
  assert.deepEqual(parseMetadataFilters(null), [])
})

test('words of an index that an earlier version wrote are looked for in the form that a note has', () => {
  const [words] = filterWords(parseMetadataFilters({ city: 'Z\u00fcrich' }))
  assert.deepEqual(
    words,
    ['Z\u00fcrich', 'Zu\u0308rich'].map((city) => `f${hash('sha256', `city\0${city}`, 'hex').slice(0, 11)}`),
  )
  assert.deepEqual(
    filterWords(parseMetadataFilters({ city: ['Bern', 'Basel'] })).map(({ length }) => length),
    [1, 1],
  )
})

test('a list too long to be filtered by as a whole takes no other key away', () => {
  const many = Array.from({ length: 300 }, (_, n) => `v${n}`)
  const values = metadataValues({ title: 'Long', items: many, tags: many, status: 'draft', more: { deep: many } })
  const passes = (filters: object) => passesFilters(values, 'note', parseMetadataFilters(filters))
  assert.ok(passes({ status: 'draft', title: 'Long', tags: ['v0', 'v253'] }))
  assert.ok(!passes({ tags: 'v254' }) && !passes({ items: 'v0' }) && !passes({ 'more.deep': 'v0' }))
})
