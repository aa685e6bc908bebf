import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readSearch } from './search-request.ts'

const DAY = 86_400_000_000
const NOW = 20_000 * DAY

describe('a search', () => {
  test('has one main member; blank ones do not count', () => {
    assert.equal(readSearch({ text: ' ', title: 'tea', permalink: null }, NOW).main.mode, 'title')
    assert.throws(() => readSearch({ text: 'a', title: 'tea' }, NOW), { code: 'unprocessable' })
  })

  test('for nothing is empty, for filters alone is not', () => {
    for (const input of [{}, { text: '' }, { text: '?!' }, { text: '\0' }, { tags: [], note_types: [' '] }]) {
      assert.equal(readSearch(input, NOW).isEmpty, true, JSON.stringify(input))
    }
    for (const input of [
      { tags: ['a'] },
      { text: 'tag:a' },
      { text: ' * ' },
      { entity_types: ['entity' as const] },
      { after_date: '1d' },
    ]) {
      const { isEmpty, main } = readSearch(input, NOW)
      assert.deepEqual([isEmpty, main.mode], [false, 'none'], JSON.stringify(input))
    }
  })

  test('takes the tags out of its text', () => {
    const { filters, main } = readSearch({ text: 'tea tag:hot,green', tags: ['asian'] }, NOW)
    assert.deepEqual(filters.tags, ['asian', 'hot', 'green'])
    assert.ok(main.mode === 'text' && main.question.words.join() === 'tea')
  })

  test('takes dates of any age, and spans of time', () => {
    const after = (text: string) => readSearch({ after_date: text }, NOW).filters.after
    assert.equal(after('1999-01-01'), 915_148_800_000_000)
    assert.equal(after('3 years ago'), NOW - 3 * 365 * DAY)
    assert.equal(after('2h'), NOW - DAY / 12)
    assert.equal(after('999999999 years ago'), Number.MIN_SAFE_INTEGER)
    assert.throws(() => after('whenever'), { code: 'unprocessable' })
  })

  test('loses what no database can hold', () => {
    const { main } = readSearch({ permalink: 'a\0b\ud800' }, NOW)
    assert.deepEqual(main, { mode: 'permalink', text: 'ab\ufffd' })
  })
})
