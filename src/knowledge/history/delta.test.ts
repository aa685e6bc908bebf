import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyDelta, deltaOf } from './delta.ts'

test('a small change is kept as what differs', () => {
  const text = 'x'.repeat(10_000)
  assert.deepEqual(deltaOf(`${text}old${text}`, `${text}newer${text}`), { head: 10_000, tail: 10_000, middle: 'old' })
  assert.deepEqual(deltaOf(text, `${text}appended`), { head: 10_000, tail: 0, middle: '' })
})

test('what was put before a text leaves it as it was', () => {
  const delta = deltaOf('older text', 'newer, older text')
  assert.deepEqual(delta, { head: 0, tail: 10, middle: '' })
  assert.equal(delta && applyDelta('newer, older text', delta), 'older text')
})

test('however long the shared parts are, and whatever they consist of, the older text comes back', () => {
  const lengths = [0, 1, 4095, 4096, 4097, 8192, 12_289]
  for (const head of lengths) {
    for (const tail of lengths) {
      const around = (middle: string) => 'x'.repeat(head) + middle + 'y'.repeat(tail)
      const delta = deltaOf(around('-'), around('++'))
      if (head + tail > 0) assert.deepEqual(delta, { head, tail, middle: '-' })
      const middle = '-'.repeat(5000)
      const isWorth = head + tail >= middle.length
      assert.deepEqual(deltaOf(around(middle), around('+'.repeat(5000))), isWorth ? { head, tail, middle } : null)
      // Nothing tells one part of such a text from another.
      const [older, newer] = ['z'.repeat(head), `z${'z'.repeat(tail)}`]
      const same = deltaOf(older, newer)
      if (same !== null) assert.equal(applyDelta(newer, same), older)
      const between = deltaOf(`${older}a${older}`, `${older}b${newer}`)
      if (between !== null) assert.equal(applyDelta(`${older}b${newer}`, between), `${older}a${older}`)
    }
  }
})

test('a text that shares half with the next is worth a difference', () => {
  assert.deepEqual(deltaOf('aabb', 'aaccc'), { head: 2, tail: 0, middle: 'bb' })
  assert.equal(deltaOf('aabbb', 'aaccc'), null)
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
  // The first and the last halves that there are.
  for (const [one, other] of [
    ['\u{10000}', '\u{10001}'],
    ['\u{10ffff}', '\u{10fffe}'],
    ['\u{10000}', '\u{10400}'],
    ['\u{10ffff}', '\u{ffff}'],
    ['\u{103ff}', '\u{10ffff}'],
  ]) {
    assert.equal(deltaOf(`aaaa${one}bbbb`, `aaaa${other}bbbb`)?.middle, one)
    assert.equal(deltaOf(`${one}bbbb`, `${other}bbbb`)?.middle, one)
    assert.equal(deltaOf(`aaaa${one}`, `aaaa${other}`)?.middle, one)
  }
  // What comes before and behind them is a whole character.
  assert.equal(deltaOf('aaaa\ue000b', 'aaaa\ue000c')?.middle, 'b')
  assert.equal(deltaOf('b\ue000aaaa', 'c\ue000aaaa')?.middle, 'b')
  assert.equal(deltaOf('aaaa\u{10000}b', 'aaaa\u{10000}c')?.middle, 'b')
  assert.equal(deltaOf('aaaa\ud7ffb', 'aaaa\ud7ffc')?.middle, 'b')
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
