import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonBody } from './json-body.ts'

const parse = (text: string) => parseJsonBody(Buffer.from(text))

test('a body is read as it is', () => {
  assert.deepEqual(parse('{"a":[1,"ä",null]}'), { a: [1, 'ä', null] })
  assert.deepEqual(parse('\ufeff{"a":1}'), { a: 1 })
  assert.equal(parse(''), undefined)
})

test('a whole number that would be rounded is the text that it was written as', () => {
  const exact = '[9007199254740991,-9007199254740992,12345678901234567000,1e21,0.12345678901234567,1234567890123456.5]'
  assert.deepEqual(parse(exact), JSON.parse(exact))
  assert.deepEqual(parse('{"id":1234567890123456789,"ids":[-9007199254740993],"text":"1234567890123456789"}'), {
    id: '1234567890123456789',
    ids: ['-9007199254740993'],
    text: '1234567890123456789',
  })
})

test('what is no JSON is refused without quoting it', () => {
  for (const text of ['{', 's3cret', '{"a":1}x', "{'a':1}", '[1,]', ' ']) {
    assert.throws(() => parse(text), { message: 'Request body is not valid JSON' })
  }
  assert.throws(() => parseJsonBody(Buffer.from([0x22, 0xff, 0x22])), { message: 'Request body is not valid JSON' })
})

test('a member that reaches the prototype is refused, however it is written; the words in a text are not', () => {
  for (const text of [
    '{"__proto__":{"admin":true}}',
    '{"a":[{"__proto__":1}]}',
    '{"\\u005f_proto__":{}}',
    '{"constructor":{"prototype":{}}}',
  ]) {
    assert.throws(() => parse(text), /which is not allowed/, text)
  }
  assert.deepEqual(parse('{"text":"__proto__ and constructor"}'), { text: '__proto__ and constructor' })
  assert.equal((parse('{"constructor":"builder"}') as { constructor: unknown }).constructor, 'builder')
})

test('nesting is bounded, and brackets inside a text do not count', () => {
  assert.ok(parse('['.repeat(100) + ']'.repeat(100)))
  assert.throws(() => parse('['.repeat(101) + ']'.repeat(101)), /nested more than 100/)
  assert.throws(() => parse('{"a":'.repeat(500_000)), /nested more than 100/)
  assert.ok(parse(JSON.stringify({ text: '['.repeat(1000), more: '\\"{'.repeat(500) })))
})

test('the number of values is bounded, and what stands in a text does not count', () => {
  const list = (count: number) => `{"title":"x","ignored":[${'{},'.repeat(count)}1]}`
  assert.throws(() => parse(list(3_000_000)), { message: 'Request body has more than 250,000 values' })
  assert.throws(() => parse(list(125_000)), /more than 250,000 values/)
  assert.ok(parse(list(124_000)))
  assert.ok(parse(JSON.stringify({ content: 'a, [b] {c}, '.repeat(300_000) })))
})
