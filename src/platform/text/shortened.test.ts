import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownId } from '../ids/shown-id.ts'
import { cutTo, shortened } from './shortened.ts'

test('a text is cut between characters', () => {
  assert.equal(cutTo('a😀b', 4), 'a😀b')
  assert.equal(cutTo('a😀b', 3), 'a😀')
  assert.equal(cutTo('a😀b', 2), 'a')
})

test('what an error repeats has no half of a character, neither by being cut nor as it was sent', () => {
  assert.equal(shortened('a😀😀', 2), 'a…')
  assert.equal(shortened('x\ud83d', 9), 'x\ufffd')
  assert.equal(shownId(`a${'😀'.repeat(60)}`), `a${'😀'.repeat(49)}…`)
})
