import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Setbacks } from './setbacks.ts'

test('what fails again is left alone twice as long, at most a minute; what worked begins anew', () => {
  const setbacks = new Setbacks({ now: () => 0 })
  const pauses = Array.from({ length: 9 }, () => setbacks.add(1))
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  assert.equal(setbacks.add(2), 1_000)
  setbacks.clear(1)
  assert.equal(setbacks.add(1), 1_000)
})

test('what fails changes nothing for what failed before', () => {
  const setbacks = new Setbacks({ now: () => 0 })
  setbacks.add(1)
  setbacks.add(2)
  assert.deepEqual([setbacks.until(1), setbacks.until(2)], [1_000_000, 1_000_000])
  setbacks.clear(2)
  assert.deepEqual([setbacks.until(1), setbacks.until(2)], [1_000_000, null])
  assert.equal(setbacks.add(1), 2_000)
  setbacks.clear(1)
  assert.equal(setbacks.until(1), null)
})

test('it may be tried when its time is over, and not before', () => {
  let now = 0
  const setbacks = new Setbacks({ now: () => now })
  assert.equal(setbacks.until(1), null)
  setbacks.add(1)
  assert.equal(setbacks.until(1), 1_000_000)
  now = 1_000_000
  assert.equal(setbacks.until(1), null)
  assert.equal(setbacks.add(1), 2_000)
})

test('however many things fail, few are remembered, and those forgotten may be tried', () => {
  const setbacks = new Setbacks({ now: () => 0 })
  for (let key = 0; key < 25_000; key++) setbacks.add(key)
  let remembered = 0
  for (let key = 0; key < 25_000; key++) if (setbacks.until(key) !== null) remembered++
  assert.ok(remembered > 0 && remembered <= 10_000)
})

test('what is remembered and fails again lets nothing else be tried earlier, however many are remembered', () => {
  const setbacks = new Setbacks({ now: () => 0 })
  for (let key = 0; key < 10_000; key++) setbacks.add(key)
  assert.equal(setbacks.add(0), 2_000)
  assert.deepEqual([setbacks.until(0), setbacks.until(9_999)], [2_000_000, 1_000_000])
})
