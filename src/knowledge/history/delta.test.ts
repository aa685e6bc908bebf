import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyDelta, deltaOf } from './delta.ts'

test('a small change is kept as what differs', () => {
  const text = 'x'.repeat(10_000)
  assert.deepEqual(deltaOf(`${text}old${text}`, `${text}newer${text}`), { head: 10_000, tail: 10_000, middle: 'old' })
  assert.deepEqual(deltaOf(text, `${text}appended`), { head: 10_000, tail: 0, middle: '' })
})

test('a text that shares less than half with the next is not worth a difference', () => {
  assert.equal(deltaOf('abcdef', 'axyzzy'), null)
})

test('a character is never cut in two', () => {
  // The two share the first half of a pair, and the last half of another.
  const delta = deltaOf('aaaa\u{1f600}bbbb', 'aaaa\u{1f601}bbbb')
  assert.equal(delta?.middle, '\u{1f600}')
  const tails = deltaOf('aaaa\u{1f600}bbbb', 'aaaa\u{1fa00}bbbb')
  assert.equal(tails?.middle, '\u{1f600}')
})

test('the older text comes back from the newer one', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\u{1f600}', '\u{1f601}', '\u{1fa00}', 'ab'.repeat(3000)), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(text, text, (one, other) => {
      const older = one.join('')
      const newer = other.join('')
      const delta = deltaOf(older, newer)
      if (delta === null) return
      assert.ok(delta.middle.isWellFormed())
      assert.equal(applyDelta(newer, delta), older)
    }),
  )
})
