import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MICROS_PER_SECOND, sleep } from '../../src/platform/clock/clock.ts'
import { FakeClock } from './fake-clock.ts'

test('the fake clock stands still, yet never answers the same time twice', () => {
  const clock = new FakeClock(5_000)
  assert.deepEqual([clock.now(), clock.now()], [5_000, 5_001])
  assert.equal(clock.elapsedMs(), 0)
})

test('the fake clock has moved as soon as advance returns', async () => {
  const clock = new FakeClock(0)
  const moving = clock.advance(1_000)
  assert.equal(clock.now(), MICROS_PER_SECOND)
  await moving
})

test('the fake clock rings in the order of time, also what is set while it rings', async () => {
  const clock = new FakeClock()
  const rung: string[] = []
  clock.after(30, () => rung.push(`c at ${clock.elapsedMs()}`))
  clock.after(10, () => {
    rung.push(`a at ${clock.elapsedMs()}`)
    clock.after(10, () => rung.push(`b at ${clock.elapsedMs()}`))
  })
  clock.after(10, () => rung.push('never'))()
  clock.after(100, () => rung.push('too late'))
  await clock.advance(50)
  assert.deepEqual(rung, ['a at 10', 'b at 20', 'c at 30'])
  assert.equal(clock.waiting, 1)
})

test('a loop that sleeps on the fake clock runs as often as time allows', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  let rounds = 0
  const loop = (async () => {
    for (;;) {
      await sleep(clock, 100, stop.signal)
      rounds++
    }
  })()
  await clock.advance(1_000)
  assert.equal(rounds, 10)
  stop.abort(new Error('enough'))
  await assert.rejects(loop, /enough/)
})
