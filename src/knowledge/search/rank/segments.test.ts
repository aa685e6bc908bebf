import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { segmentsOf } from './segments.ts'

function textsOf(text: string): string[] {
  return segmentsOf(text).map(({ start, end }) => text.slice(start, end))
}

test('each line is a segment, blank ones are none', () => {
  assert.deepEqual(textsOf('one\n\n two \n   \nthree'), ['one', ' two ', 'three'])
})

test('a long line is cut after a sentence', () => {
  const sentence = `${'word '.repeat(25)}end.`
  const [first = ''] = textsOf(`${sentence} ${sentence} ${sentence}`)
  assert.equal(first, sentence)
})

test('segments are short, in order, and leave out nothing but white space', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '.', '\n', '。', '😀'), maxLength: 2_000 }), (text) => {
      let last = 0
      for (const { start, end } of segmentsOf(text)) {
        assert.ok(start >= last && end > start && end - start <= 240)
        assert.equal(text.slice(last, start).trim(), '')
        last = end
      }
      assert.equal(text.slice(last).trim(), '')
    }),
    { numRuns: 50 },
  )
})
