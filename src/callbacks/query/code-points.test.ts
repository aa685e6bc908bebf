import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareCodePoints, prefixEnd } from './code-points.ts'

const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'),
  maxLength: 4,
})

test('the order is that of the UTF-8 bytes', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(Math.sign(compareCodePoints(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
  )
})

test('exactly the texts with a prefix stand between it and its end', () => {
  fc.assert(
    fc.property(text, text, (prefix, other) => {
      const end = prefixEnd(prefix)
      const isWithin = compareCodePoints(other, prefix) >= 0 && (end === undefined || compareCodePoints(other, end) < 0)
      assert.equal(isWithin, other.startsWith(prefix))
      assert.ok(end?.isWellFormed() ?? true)
    }),
    { numRuns: 1_000 },
  )
})
