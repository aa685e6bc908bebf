import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formsBegin, stemOf } from './stem.ts'

test('all forms of a word begin with what is looked for in their place', () => {
  for (const forms of [
    ['house', 'houses', 'housing'],
    ['happy', 'happiness'],
    ['hope', 'hopes', 'hoping', 'hoped'],
    ['sensible', 'sensibility'],
    ['key', 'keys'],
    ['run', 'running'],
  ]) {
    for (const word of forms) {
      assert.equal(stemOf(word) ?? word, stemOf(forms[0] as string) ?? forms[0])
      assert.ok(
        forms.every((form) => form.startsWith(formsBegin(word))),
        word,
      )
    }
  }
})

test('a word that has no forms is looked for as it is', () => {
  for (const word of ['of', 'café', '東京', 'h2o', '2026']) assert.equal(formsBegin(word), word)
})
