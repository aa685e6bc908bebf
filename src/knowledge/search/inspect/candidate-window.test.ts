import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidateWindow } from './candidate-window.ts'

test('the candidates that are shown begin with the best, unless the page lies behind them', () => {
  assert.deepEqual(candidateWindow({ offset: 0, limit: 10 }, 0), { start: 0, end: 1_000 })
  assert.deepEqual(candidateWindow({ offset: 900, limit: 100 }, 0), { start: 0, end: 1_000 })
  assert.deepEqual(candidateWindow({ offset: 1_500, limit: 100 }, 0), { start: 600, end: 1_600 })
  // By words nothing before the page is found.
  assert.deepEqual(candidateWindow({ offset: 1_500, limit: 100 }, 1_500), { start: 0, end: 1_000 })
})
