import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RUN_STATES } from './run-state.ts'
import { attemptFailure, cutMessage, MAX_FAILURE_BYTES, runOutcome, terminatedFailure } from './stored-failure.ts'

test('a termination without a reason says what it was', () => {
  assert.deepEqual(terminatedFailure('', ''), {
    message: 'callback execution terminated',
    terminatedFailureInfo: { identity: '' },
  })
})

test('each state has the outcome the contract names', () => {
  const failures = { lastAttempt: 'last', terminal: 'end' }
  const outcomes = RUN_STATES.map((state) => [state, runOutcome(state, failures)])
  assert.deepEqual(Object.fromEntries(outcomes), {
    SCHEDULED: null,
    BACKING_OFF: null,
    SUCCEEDED: { success: {} },
    FAILED: { failure: 'last' },
    TIMED_OUT: { failure: 'end' },
    TERMINATED: { failure: 'end' },
  })
})

test('a run that succeeded after failures has succeeded', () => {
  assert.deepEqual(runOutcome('SUCCEEDED', { lastAttempt: 'kept', terminal: null }), { success: {} })
})

test('a closed run whose failure is missing is an error, not a success', () => {
  for (const state of ['FAILED', 'TIMED_OUT', 'TERMINATED'] as const) {
    assert.throws(() => runOutcome(state, { lastAttempt: null, terminal: null }), { message: new RegExp(state) })
  }
})

test('a long message is cut at four kibibytes, between characters', () => {
  assert.equal(cutMessage('x'.repeat(4096)).length, 4096)
  assert.equal(cutMessage('x'.repeat(9000)).length, 4096)
  assert.equal(cutMessage(`${'x'.repeat(4095)}é`), 'x'.repeat(4095))
  assert.equal(cutMessage(`${'x'.repeat(4094)}😀`), 'x'.repeat(4094))
  assert.equal(cutMessage(`${'x'.repeat(4092)}😀y`), `${'x'.repeat(4092)}😀`)
  assert.equal(cutMessage(`${'x'.repeat(4096)}😀`), 'x'.repeat(4096))
})

test('a stored message is the beginning of the given one, well-formed, and as long as fits', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 50 }),
    fc
      .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 7 }), fc.integer({ min: 500, max: 3_000 }))
      .map(([text, n]) => text.repeat(n)),
    fc.constantFrom('\ud800', 'a\udc00b'),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const whole = text.toWellFormed()
      const { message } = attemptFailure(text, false)
      const bytes = Buffer.byteLength(message)
      assert.ok(whole.startsWith(message) && bytes <= MAX_FAILURE_BYTES)
      if (message !== whole) assert.ok(bytes > MAX_FAILURE_BYTES - 4)
    }),
    { numRuns: 60 },
  )
})
