import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languageCode } from './language-code.ts'

test('a code has one spelling, the one that browsers have for it', () => {
  for (const code of ['en-GB', 'zh-Hans', 'zh-Hant-TW', 'es-419', 'fil', 'pt-BR', 'ca-valencia', 'de-1996']) {
    for (const spelling of [code, code.toUpperCase(), code.toLowerCase(), code.replaceAll('-', '_')]) {
      assert.equal(languageCode(spelling), code)
    }
    assert.equal(new Intl.Locale(code).toString(), code)
  }
})

test('what is no code has none', () => {
  for (const wrong of ['', 'e', 'en-', '<b>', '__proto__', 7, null, 'a'.repeat(50)]) {
    assert.equal(languageCode(wrong), undefined, String(wrong))
  }
})
