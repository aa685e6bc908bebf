import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DestinationLimits } from './limits.ts'

const SECOND = 1_000_000
const T0 = 1_700_000_000_000_000

/** Starts as soon as it may, attempts end at once. */
function startsAt(limits: DestinationLimits, count: number): number[] {
  const starts: number[] = []
  let now = T0
  while (starts.length < count) {
    const allowance = limits.allowance(now)
    assert.notEqual(allowance, 'when_one_ends')
    if (typeof allowance === 'object') now = allowance.at
    else {
      limits.begin(now)
      limits.end()
      starts.push(now - T0)
    }
  }
  return starts
}

test('as many attempts at a time as allowed, the next one when one ends', () => {
  const limits = new DestinationLimits(() => ({ concurrency: 2, rps: 0 }))
  limits.begin(T0)
  assert.equal(limits.allowance(T0), 'now')
  limits.begin(T0)
  assert.equal(limits.allowance(T0 + SECOND), 'when_one_ends')
  limits.end()
  assert.deepEqual([limits.allowance(T0), limits.inFlight], ['now', 1])
})

test('asking takes nothing', () => {
  const limits = new DestinationLimits(() => ({ concurrency: 1, rps: 1 }))
  for (let times = 0; times < 5; times++) assert.equal(limits.allowance(T0), 'now')
  assert.equal(limits.inFlight, 0)
})

test('no rate is no limit', () => {
  const limits = new DestinationLimits(() => ({ concurrency: 1, rps: 0 }))
  assert.equal(startsAt(limits, 5_000).at(-1), 0)
})

test('so many starts in a second, the next one a second after the first', () => {
  const limits = new DestinationLimits(() => ({ concurrency: 1, rps: 3 }))
  assert.deepEqual(startsAt(limits, 7), [0, 0, 0, SECOND, SECOND, SECOND, 2 * SECOND])
})

test('a rate below one and a broken one are kept over a longer time', () => {
  const slow = new DestinationLimits(() => ({ concurrency: 1, rps: 0.5 }))
  assert.deepEqual(startsAt(slow, 3), [0, 2 * SECOND, 4 * SECOND])
  const broken = new DestinationLimits(() => ({ concurrency: 1, rps: 2.5 }))
  assert.deepEqual(startsAt(broken, 7), [0, 0, 0, 1.2 * SECOND, 1.2 * SECOND, 1.2 * SECOND, 2.4 * SECOND])
})

test('a changed limit holds for the next start', () => {
  const settings = { concurrency: 10, rps: 10 }
  const limits = new DestinationLimits(() => settings)
  for (let start = 0; start < 5; start++) limits.begin(T0 + start)
  settings.rps = 2
  assert.deepEqual(limits.allowance(T0 + 10), { at: T0 + 3 + SECOND })
  settings.rps = 0
  assert.equal(limits.allowance(T0 + 10), 'now')
  settings.concurrency = 5
  assert.equal(limits.allowance(T0 + 10), 'when_one_ends')
})

test('an end without a beginning is an error', () => {
  const limits = new DestinationLimits(() => ({ concurrency: 1, rps: 0 }))
  assert.throws(() => limits.end(), /ended/)
})

test('no second holds more starts than allowed, and a start is never promised in vain', () => {
  const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400_000 })), { maxLength: 100 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), gaps, (rps, waits) => {
      const limits = new DestinationLimits(() => ({ concurrency: 1, rps }))
      const starts: number[] = []
      let now = T0
      for (const wait of waits) {
        now += wait
        const allowance = limits.allowance(now)
        if (typeof allowance === 'object') {
          assert.ok(allowance.at > now && allowance.at <= now + SECOND)
          assert.equal(limits.allowance(allowance.at - 1) === 'now', false)
          continue
        }
        limits.begin(now)
        limits.end()
        starts.push(now)
        assert.ok(starts.filter((at) => at > now - SECOND).length <= rps)
      }
    }),
    { numRuns: 100 },
  )
})

test('a high rate is kept with little memory and undershot by at most a thousandth', () => {
  const limits = new DestinationLimits(() => ({ concurrency: 1, rps: 20_000 }))
  const starts: number[] = []
  // Offered in gusts, so that groups are made at other distances than they are forgotten.
  for (let now = T0, offer = 0; now < T0 + 3 * SECOND; now += 1 + ((offer * offer) % 61), offer++) {
    if (limits.allowance(now) !== 'now') continue
    limits.begin(now)
    limits.end()
    starts.push(now)
  }
  const tooSoon = starts.filter((at, index) => at - Number(starts[index - 20_000]) < SECOND)
  assert.deepEqual(tooSoon, [])
  assert.ok(starts.length >= 60_000 * 0.999, `${starts.length}`)
})
