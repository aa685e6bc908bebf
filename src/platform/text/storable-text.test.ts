import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storableText } from './storable-text.ts'

test('a text that every database can hold stays as it is', () => {
  assert.equal(storableText('naïve 😀\n', 8), 'naïve 😀')
  assert.equal(storableText('', 8), '')
})

test('a NUL goes, and what is too long is cut; half of a character is no part of it', () => {
  assert.equal(storableText('a\0b\0', 8), 'ab')
  assert.equal(storableText('abc', 2), 'ab')
  assert.equal(storableText('a😀', 2), 'a\uFFFD')
  assert.equal(storableText('\uD800', 8), '\uFFFD')
})
