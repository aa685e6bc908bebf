import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutDuration, LONGEST_MICROS, scheduleToClose } from './schedule-to-close.ts'

const SECOND = 1_000_000
const none = { default: null, max: null }

test('no limit is asked for and none is set: there is none', () => {
  assert.equal(scheduleToClose(0, none), null)
})

test('who asks for no limit gets the default of the server, else its ceiling', () => {
  assert.equal(scheduleToClose(0, { default: 10_000, max: 20_000 }), 10 * SECOND)
  assert.equal(scheduleToClose(0, { default: null, max: 20_000 }), 20 * SECOND)
})

test('a given limit holds, up to the ceiling', () => {
  assert.equal(scheduleToClose(5 * SECOND, none), 5 * SECOND)
  assert.equal(scheduleToClose(15 * SECOND, { default: 10_000, max: null }), 15 * SECOND)
  assert.equal(scheduleToClose(30 * SECOND, { default: 10_000, max: 20_000 }), 20 * SECOND)
})

test('more than a hundred years are a hundred years', () => {
  assert.equal(scheduleToClose(315_576_000_000 * SECOND, none), LONGEST_MICROS)
  assert.equal(LONGEST_MICROS, 3_153_600_000 * SECOND)
})

test('a limit below a microsecond is one, not none', () => {
  assert.equal(scheduleToClose(0.001, none), 1)
  assert.deepEqual([cutDuration(-1), cutDuration(0), cutDuration(1.5)], [0, 0, 2])
})
