import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasUnspaced } from './unspaced.ts'

test('scripts without blanks between words are known in all their forms, rare characters too', () => {
  for (const text of ['東', '𠮷', 'ひ', 'カ', 'ー', 'ｶﾞ', 'ﾞ', '한', '\u1106', 'ไ', 'ລ', 'ខ', 'ရ']) {
    assert.ok(hasUnspaced(text), text)
  }
})

test('whatever else stands behind the alphabets is written with blanks, or is no letter', () => {
  for (const text of ['word', 'ελλάς', 'हिन्दी', 'བོད', 'ＡＢＣ', '𞤀𞤁', '𐌰𐌱', '、', '😀', '\ue000', '']) {
    assert.ok(!hasUnspaced(text), text)
  }
})
