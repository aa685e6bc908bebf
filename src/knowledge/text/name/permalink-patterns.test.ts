import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permalinkPatterns } from './permalink-patterns.ts'

test('a pattern is itself, with and without the project', () => {
  assert.deepEqual(permalinkPatterns(['main/'], 'a-b/c.d-*'), ['a-b/c.d-*', 'main/a-b/c.d-*'])
  for (const whole of ['main/a/*', '*', '*/a', '**']) assert.deepEqual(permalinkPatterns(['main/'], whole), [whole])
})

test('a pattern of folders and titles is also one of the permalinks that are made of them', () => {
  for (const [pattern, made] of Object.entries({
    'Night Sky/*': 'night-sky/*',
    'Café/Pole_S*': 'cafe/pole-s*',
    'Spoke *': 'spoke-*',
    '*/My *_Note': '*/my-*-note',
    'Main/Tea/*': 'main/tea/*',
    'docs/日本Tea*': 'docs/日本-tea*',
    'a//B/*': 'a//b/*',
    '!/A*': '!/a*',
  })) {
    const all = permalinkPatterns(['main/'], pattern)
    assert.equal(all[0], pattern)
    assert.ok(all.includes(made), `${pattern}: ${all}`)
  }
})
