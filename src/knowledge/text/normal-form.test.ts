import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observationPermalink } from '../note/part-document.ts'
import { unicodeForms } from '../search/words/unicode-forms.ts'
import { normalForm } from './normal-form.ts'

test('texts are in the form that is asked for', () => {
  for (const text of ['', 'u\u0308ber', 'ｶﾞ', '한국', `${'long '.repeat(40)}e\u0301`]) {
    for (const form of ['NFC', 'NFD', 'NFKD'] as const) assert.equal(normalForm(text, form), text.normalize(form))
  }
})

test('a letter with a million marks is read in no time', () => {
  const text = `u\u0308x${'\u0301\u0323'.repeat(500_000)}e\u0301`
  assert.ok(normalForm(text, 'NFC').startsWith('\u00fc'))
  assert.ok(normalForm(text, 'NFC').endsWith('\u00e9'))
  assert.equal(unicodeForms(text).length, 3)
  assert.ok(observationPermalink({ permalink: 'a', file_path: 'a.md' }, text, 'b').endsWith('/b'))
})
