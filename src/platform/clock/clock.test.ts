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

  test('says once that it was left behind, and again after the two agreed meanwhile', () => {
    const { clock, pass, set } = machine()
    let told = 0
    clock.onLeftBehind = () => told++
    set(2 * HOUR_MS)
    clock.now()
    set(-30_000)
    clock.now()
    assert.equal(told, 0)
    for (let times = 1; times <= 2; times++) {
      set(-HOUR_MS)
      clock.now()
      pass(1_000)
      clock.now()
      assert.equal(told, times)
      set(HOUR_MS)
      clock.now()
    }
  })

  test('goes by the time it is told, at the beginning also back to it, whatever the machine says', () => {
    const { clock, nowMs, pass, set } = machine()
    assert.equal(nowMs(), 0)
    clock.begin(BEGAN_MS - 2 * HOUR_MS)
    assert.equal(nowMs(), -2 * HOUR_MS)
    set(HOUR_MS)
    assert.equal(nowMs(), -2 * HOUR_MS)
    assert.equal(clock.correct(BEGAN_MS - 2 * HOUR_MS + 5_000), true)
    pass(10)
    assert.equal(nowMs(), -2 * HOUR_MS + 5_010)
    // Too far back: no time would pass for an hour.
    assert.equal(clock.correct(BEGAN_MS - 3 * HOUR_MS), false)
    assert.equal(nowMs(), -2 * HOUR_MS + 5_010)
  })

  test('that is told the time says when the machine slept or its clock was set, once each time', () => {
    const { clock, pass, set } = machine()
    let jumps = 0
    clock.onJump = () => jumps++
    set(HOUR_MS)
    clock.now()
    assert.equal(jumps, 0)
    clock.begin(BEGAN_MS)
    pass(100_000)
    clock.now()
    assert.equal(jumps, 0)
    set(5_000)
    clock.now()
    clock.now()
    assert.equal(jumps, 1)
    set(-5_000)
    clock.now()
    assert.equal(jumps, 2)
  })

  test('rings after a long time although it was set back meanwhile', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { clock, pass, set } = machine()
    let rang = 0
    clock.after(120_000, () => rang++)
    set(-55_000)
    for (const passed of [60_000, 59_000]) {
      pass(passed)
      t.mock.timers.tick(passed)
    }
    assert.equal(rang, 0)
    pass(1_000)
    t.mock.timers.tick(1_000)
    assert.equal(rang, 1)
  })

  test('rings after a long time that the machine mostly slept through', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { clock, pass, set } = machine()
    let rang = 0
    clock.after(HOUR_MS, () => rang++)
    set(2 * HOUR_MS)
    pass(60_000)
    t.mock.timers.tick(60_000)
    assert.equal(rang, 1)
  })
})
