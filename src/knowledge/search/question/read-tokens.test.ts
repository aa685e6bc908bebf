import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTokens } from './read-tokens.ts'

test('a tag of very many signs is read in one pass', () => {
  const tag = `${'.'.repeat(2_000_000)}a`
  assert.deepEqual(readTokens(`tag:${tag}!?…`, true), [{ kind: 'tags', text: tag }])
})
