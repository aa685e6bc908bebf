import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { WakeTimer } from './wake-timer.ts'

const SECOND = 1_000
const HOUR = 3_600_000

/** Its time of day can be set, as that of a machine; what measures goes on evenly. */
class SetClock extends FakeClock {
  #aheadMs = 0

  override now(): number {
    return super.now() + this.#aheadMs * MICROS_PER_MS
  }

  setForward(ms: number): void {
    this.#aheadMs += ms
  }
}

function rig() {
  const clock = new SetClock()
  const timer = new WakeTimer(clock)
  const rung: string[] = []
  const wakeIn = (ms: number, name: string) =>
    timer.wakeAt(clock.now() + ms * MICROS_PER_MS, () => void rung.push(name))
  return { clock, timer, rung, wakeIn }
}

test('it rings at the earliest time that it was told, however far away, once', async () => {
  const { clock, rung, wakeIn } = rig()
  wakeIn(HOUR, 'late')
  wakeIn(50 * SECOND, 'early')
  wakeIn(55 * SECOND, 'dropped')
  await clock.advance(49 * SECOND)
  assert.deepEqual(rung, [])
  await clock.advance(2 * SECOND)
  assert.deepEqual(rung, ['early'])
  await clock.advance(HOUR)
  assert.deepEqual(rung, ['early'])
})

test('a clock that is set forward is noticed within seconds, also for a time that is told afterwards', async () => {
  for (const ms of [50 * SECOND, HOUR]) {
    const { clock, rung, wakeIn } = rig()
    wakeIn(ms, 'over')
    await clock.advance(SECOND)
    clock.setForward(3 * HOUR)
    wakeIn(SECOND, 'told afterwards')
    await clock.advance(5 * SECOND)
    assert.deepEqual(rung, ['over'])
  }
})

test('one that was stopped stays silent, also on a long way', async () => {
  const { clock, timer, rung, wakeIn } = rig()
  wakeIn(HOUR, 'never')
  await clock.advance(7 * SECOND)
  timer.stop()
  await clock.advance(2 * HOUR)
  assert.deepEqual(rung, [])
  assert.equal(clock.waiting, 0)
})
