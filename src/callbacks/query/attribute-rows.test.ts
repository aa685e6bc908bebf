import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributeRows, readAttribute, wordText } from './attribute-rows.ts'
import type { FieldType } from './fields.ts'
import { textWords } from './text-words.ts'

test('each type reads its own JSON', () => {
  assert.deepEqual(readAttribute('Keyword', '"a"'), ['a'])
  assert.deepEqual(readAttribute('Text', '"Some words"'), ['Some words'])
  assert.deepEqual(readAttribute('Int', '9223372036854775807'), [9_223_372_036_854_775_807n])
  assert.deepEqual(readAttribute('Double', '1e3'), [1000])
  assert.deepEqual(readAttribute('Bool', 'false'), [false])
  assert.deepEqual(readAttribute('Datetime', '"1970-01-01T00:00:00.0000019Z"'), [1n])
  assert.deepEqual(readAttribute('KeywordList', '["a","b","a"]'), ['a', 'b'])
  assert.deepEqual(readAttribute('KeywordList', '"a"'), ['a'])
  assert.deepEqual(readAttribute('KeywordList', '[]'), [])
  assert.deepEqual(readAttribute('Int', 'null'), [])
})

test('what is not of the type is told apart from nothing', () => {
  const wrong: [FieldType, string][] = [
    ...(['1', '["a"]', '"\\u0000"', '"\\ud800"', '{}', 'a'] as const).map(
      (json) => ['Keyword', json] as [FieldType, string],
    ),
    ...(['1.0', '1e3', '"1"', '9223372036854775808', 'true'] as const).map(
      (json) => ['Int', json] as [FieldType, string],
    ),
    ['Double', '"1"'],
    ['Double', '1e999'],
    ['Bool', '"true"'],
    ['Datetime', '0'],
    ['Datetime', '"yesterday"'],
    ['KeywordList', '[1]'],
    ['KeywordList', '[null]'],
    ['KeywordList', '["a",["b"]]'],
  ]
  for (const [type, json] of wrong) assert.equal(readAttribute(type, json), undefined, `${type} ${json}`)
})

test('a value is one row, a list several, and nothing none', () => {
  const row = { name: 'X', text_value: null, number_value: null }
  assert.deepEqual(attributeRows('X', 'KeywordList', ['a', 'b']), [
    { ...row, type: 'KeywordList', text_value: 'a' },
    { ...row, type: 'KeywordList', text_value: 'b' },
  ])
  assert.deepEqual(attributeRows('X', 'Bool', [true]), [{ ...row, type: 'Bool', number_value: 1n }])
  assert.deepEqual(attributeRows('X', 'Double', [1.5]), [{ ...row, type: 'Double', number_value: 1.5 }])
  assert.deepEqual(attributeRows('X', 'Text', ['Two Words']), [{ ...row, type: 'Text', text_value: ' two words ' }])
  assert.deepEqual(attributeRows('X', 'Int', []), [])
})

test('words are runs of letters, digits and underscores in lower case, each once', () => {
  assert.deepEqual(textWords("Order #42: it's PAID, paid_twice"), ['order', '42', 'it', 's', 'paid', 'paid_twice'])
  assert.deepEqual(textWords('E\u0301tude ÉTUDE'), ['étude'])
  assert.deepEqual(textWords('ΟΔΟΣ'), textWords("ΟΔΟΣ'Α").slice(0, 1))
  assert.deepEqual(textWords(' -!'), [])
  assert.equal(wordText('-'), '  ')
})
