import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../platform/errors/app-error.ts'
import { memoryName } from './memory-uri.ts'

test('the scheme and the slashes around a memory address are optional', () => {
  for (const uri of ['docs/plan', 'memory://docs/plan', 'MEMORY://docs/plan', ' /docs/plan/ ']) {
    assert.equal(memoryName(uri), 'docs/plan')
  }
  assert.equal(memoryName('memory://docs/*'), 'docs/*')
  assert.equal(memoryName('docs/Cafe\u0301'), 'docs/Caf\u00e9')
})

test('a memory address that could not be one is refused', () => {
  for (const uri of [
    '',
    'memory://',
    '/',
    'http://x',
    'memory://memory://x',
    'a//b',
    'a<b',
    'a>b',
    'a\u007fb',
    ' / / ',
    'a"b',
    'a|b',
    'a?b',
    'a\u0001b',
  ]) {
    assert.throws(
      () => memoryName(uri),
      (error) => isAppError(error, 'unprocessable'),
      uri,
    )
  }
  assert.equal(memoryName('x'.repeat(1_000)).length, 1_000)
  assert.throws(
    () => memoryName('x'.repeat(1_001)),
    (error) => isAppError(error, 'unprocessable'),
  )
})
