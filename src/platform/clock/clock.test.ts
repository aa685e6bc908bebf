import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type MachineTime, MICROS_PER_MS, SystemClock } from './clock.ts'

const HOUR_MS = 3_600_000
const BEGAN_MS = 1_000_000_000_000

/** A machine whose clocks are set by hand. */
function machine() {
  const state = { originMs: BEGAN_MS, wall: BEGAN_MS, elapsed: 0 }
  const time: MachineTime = { originMs: BEGAN_MS, wallMs: () => state.wall, elapsedMs: () => state.elapsed }
  const clock = new SystemClock(time)
  return {
    clock,
    nowMs: () => Math.floor(clock.now() / MICROS_PER_MS) - BEGAN_MS,
    pass(ms: number) {
      state.wall += ms
      state.elapsed += ms
    },
    set(ms: number) {
      state.wall += ms
    },
  }
}

describe('the clock of the system', () => {
  test('counts evenly while the clock of the machine is slewed', () => {
    const { nowMs, pass, set } = machine()
    pass(5_000)
    set(300)
    assert.equal(nowMs(), 5_000)
    set(-700)
    pass(1_000)
    assert.equal(nowMs(), 6_000)
  })

  test('knows how late it is after the machine slept', () => {
    const { nowMs, pass, set } = machine()
    pass(5_000)
    set(8 * HOUR_MS)
    assert.equal(nowMs(), 8 * HOUR_MS + 5_000)
    pass(10)
    assert.equal(nowMs(), 8 * HOUR_MS + 5_010)
  })

  test('never goes back: where the clock of the machine was set back a little it waits', () => {
    const { nowMs, pass, set } = machine()
    pass(100_000)
    assert.equal(nowMs(), 100_000)
    set(-20_000)
    assert.equal(nowMs(), 100_000)
    pass(19_000)
    assert.equal(nowMs(), 100_000)
    pass(2_000)
    assert.equal(nowMs(), 101_000)
  })

  test('goes on by itself where the clock of the machine was set back by much', () => {
    const { nowMs, pass, set } = machine()
    pass(1_000)
    set(-HOUR_MS)
    assert.equal(nowMs(), 1_000)
    pass(1_000)
    assert.equal(nowMs(), 2_000)
  })

  test('goes by the time it is told, at the beginning also back to it, whatever the machine says', () => {
    const { clock, nowMs, pass, set } = machine()
    assert.equal(nowMs(), 0)
    clock.begin(BEGAN_MS - 2 * HOUR_MS)
    assert.equal(nowMs(), -2 * HOUR_MS)
    set(HOUR_MS)
    assert.equal(nowMs(), -2 * HOUR_MS)
    clock.correct(BEGAN_MS - 2 * HOUR_MS + 5_000)
    pass(10)
    assert.equal(nowMs(), -2 * HOUR_MS + 5_010)
  })
})
