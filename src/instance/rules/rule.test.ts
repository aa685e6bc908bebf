import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAppError } from '../../platform/errors/app-error.ts'
import { applyRuleWish, moved, type RuleWish } from './rule.ts'

const EMPTY = { text: '', hint: '', priority: 0, translations: {} }

function problemsOf(wish: RuleWish): string[] {
  try {
    applyRuleWish(EMPTY, wish)
  } catch (error) {
    assert.ok(isAppError(error, 'unprocessable'))
    return Object.keys((error.details[0] as { details: object }).details)
  }
  return []
}

test('texts have at most 300 characters, in every language, and are counted as people count', () => {
  assert.deepEqual(problemsOf({ text: '🗒'.repeat(300) }), [])
  assert.deepEqual(problemsOf({ text: 'a'.repeat(301), hint: 'b'.repeat(1_001) }), ['text', 'hint'])
  const translations = {
    de: { text: '' },
    fr: { text: 'x'.repeat(301), hint: '\u0000' },
    'not a language': { text: 'x' },
  }
  assert.deepEqual(problemsOf({ text: ' \n', translations }), [
    'text',
    'translations.de.text',
    'translations.fr.text',
    'translations.fr.hint',
    'translations',
  ])
})

test('translations are kept in the order of their languages, with a hint each', () => {
  const translations = { 'pt-BR': { text: 'b' }, de: { text: 'a', hint: 'h' } }
  const rule = applyRuleWish(EMPTY, { text: 't', translations })
  assert.equal(JSON.stringify(rule.translations), '{"de":{"text":"a","hint":"h"},"pt-BR":{"text":"b","hint":""}}')
})

test('a language has one spelling, and a rule one translation into it', () => {
  const translations = { ZH_hans_cn: { text: 'c' }, 'pt-br': { text: 'b' }, DE: { text: 'a' } }
  assert.deepEqual(Object.keys(applyRuleWish(EMPTY, { text: 't', translations }).translations), [
    'de',
    'pt-BR',
    'zh-Hans-CN',
  ])
  const twice = { 'pt-BR': { text: 'a' }, pt_br: { text: 'b' } }
  assert.deepEqual(problemsOf({ text: 't', translations: twice }), ['translations'])
})

test('what a wish leaves out stays', () => {
  const rule = { text: 'a', hint: 'h', priority: 3, translations: { de: { text: 'x', hint: '' } } }
  assert.deepEqual(applyRuleWish(rule, {}), rule)
  assert.deepEqual(applyRuleWish(rule, { hint: '', translations: {} }), { ...rule, hint: '', translations: {} })
})

test('a moved rule changes places with nobody else, and stops at the ends', () => {
  const list = fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(list, fc.nat(), fc.integer({ min: -20, max: 20 }), (ids, pick, offset) => {
      const id = ids[pick % ids.length] as number
      const order = moved(ids, id, offset)
      assert.deepEqual(
        order.filter((one) => one !== id),
        ids.filter((one) => one !== id),
      )
      const wanted = Math.max(0, Math.min(ids.length - 1, ids.indexOf(id) + offset))
      assert.equal(order.indexOf(id), wanted)
    }),
  )
})
