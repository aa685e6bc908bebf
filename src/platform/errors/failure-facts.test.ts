import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from './app-error.ts'
import { failureFacts } from './failure-facts.ts'

test('where storage is away a log line has what it said, else all there is to find a defect', () => {
  const away = new AppError('unavailable', 'The disk is full', { cause: new Error('database or disk is full') })
  assert.deepEqual(failureFacts(away), { reason: 'database or disk is full' })
  const nameless = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  assert.deepEqual(failureFacts(new AppError('unavailable', 'Away', { cause: nameless })), { reason: 'ECONNREFUSED' })
  assert.deepEqual(failureFacts(new AppError('unavailable', 'Away')), { reason: undefined })
  const cause = new Error('a defect')
  assert.deepEqual(failureFacts(new AppError('internal', 'Internal', { cause })), { err: cause })
  const bare = new AppError('bad_gateway', 'No answer')
  assert.deepEqual(failureFacts(bare), { err: bare })
})
