import assert from 'node:assert/strict'
import { test } from 'node:test'
import { categoryFilter } from './passing-notes.ts'

test('categories are compared in every Unicode form, and in no other spelling', () => {
  for (const asked of ['\u00fcbung', 'u\u0308bung']) {
    const passes = categoryFilter(['tip', asked])
    for (const category of ['\u00fcbung', 'u\u0308bung', 'tip']) assert.equal(passes(category), true)
    for (const category of ['\u00dcbung', 'ubung', '']) assert.equal(passes(category), false)
  }
})

test('where no category is asked for, every observation passes', () => {
  assert.equal(categoryFilter([])('any'), true)
})
