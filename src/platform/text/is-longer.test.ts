import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isLonger } from './is-longer.ts'

test('a character is a code point, whatever it takes in memory', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '文', '😀', '\ud83d'), maxLength: 20 })
  fc.assert(fc.property(text, fc.nat(20), (text, most) => assert.equal(isLonger(text, most), [...text].length > most)))
  assert.equal(isLonger('😀'.repeat(500), 500), false)
  assert.equal(isLonger('😀'.repeat(501), 500), true)
})
