import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Breaker, type BreakerChange, type BreakerPass, type BreakerSettings } from './breaker.ts'

const SECOND = 1_000_000
const DEFAULTS: BreakerSettings = { consecutive_failures: 5, open_for: 60_000, half_open_requests: 1 }

function setUp(given: Partial<BreakerSettings> = {}) {
  const settings = { ...DEFAULTS, ...given }
  const clock = { at: 1_000, now: () => clock.at }
  const breaker = new Breaker(clock, () => settings)
  return { breaker, clock, settings }
}

function admitted(breaker: Breaker, isManual = false): BreakerPass {
  const pass = breaker.admit(isManual)
  assert.ok(pass !== null)
  return pass
}

function fail(breaker: Breaker, times: number): BreakerChange[] {
  return Array.from({ length: times }, () => breaker.settle(admitted(breaker), true))
}

test('opens on the sixth retryable failure in a row', () => {
  const { breaker, clock } = setUp()
  assert.deepEqual(fail(breaker, 5), [null, null, null, null, null])
  assert.equal(breaker.state, 'closed')
  assert.deepEqual(fail(breaker, 1), ['opened'])
  assert.deepEqual(breaker.snapshot(), { state: 'open', openUntil: clock.at + 60 * SECOND, consecutiveFailures: 6 })
  assert.equal(breaker.admit(), null)
})

test('anything but a retryable failure starts the count anew, time does not', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 5)
  clock.at += 86_400 * SECOND
  assert.equal(breaker.snapshot().consecutiveFailures, 5)
  assert.equal(breaker.settle(admitted(breaker), false), null)
  assert.equal(breaker.snapshot().consecutiveFailures, 0)
  assert.deepEqual(fail(breaker, 6).at(-1), 'opened')
})

test('with no failure tolerated the first one opens it', () => {
  assert.deepEqual(fail(setUp({ consecutive_failures: 0 }).breaker, 1), ['opened'])
})

test('lets one trial through after a minute, which closes it when it is good', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 6)
  assert.equal(breaker.nextOfferAt, clock.at + 60 * SECOND)
  clock.at += 60 * SECOND - 1
  assert.equal(breaker.admit(), null)
  clock.at += 1
  assert.deepEqual(breaker.snapshot(), { state: 'half_open', openUntil: null, consecutiveFailures: 6 })
  assert.equal(breaker.nextOfferAt, null)
  const trial = admitted(breaker)
  assert.equal(breaker.admit(), null)
  assert.equal(breaker.settle(trial, false), 'closed')
  assert.deepEqual(breaker.snapshot(), { state: 'closed', openUntil: null, consecutiveFailures: 0 })
})

test('a bad trial opens it for another minute', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 6)
  clock.at += 61 * SECOND
  const trial = admitted(breaker)
  clock.at += 10 * SECOND
  assert.equal(breaker.settle(trial, true), 'reopened')
  assert.deepEqual(breaker.snapshot(), { state: 'open', openUntil: clock.at + 60 * SECOND, consecutiveFailures: 7 })
})

test('with several trials all have to be good, and one bad one is enough', () => {
  const { breaker, clock } = setUp({ half_open_requests: 3 })
  fail(breaker, 6)
  clock.at += 60 * SECOND
  const [first, second, third] = [admitted(breaker), admitted(breaker), admitted(breaker)]
  assert.equal(breaker.admit(), null)
  assert.equal(breaker.settle(first, false), null)
  assert.equal(breaker.admit(), null, 'a good trial leaves no room for a fourth')
  assert.equal(breaker.settle(second, true), 'reopened')
  assert.equal(breaker.settle(third, false), null)
  assert.equal(breaker.state, 'open')
  clock.at += 60 * SECOND
  const passes = [admitted(breaker), admitted(breaker), admitted(breaker)]
  assert.deepEqual(
    passes.map((pass) => breaker.settle(pass, false)),
    [null, null, 'closed'],
  )
})

test('a trial that told nothing makes room for the next one', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 6)
  clock.at += 60 * SECOND
  breaker.release(admitted(breaker))
  assert.equal(breaker.state, 'half_open')
  assert.equal(breaker.settle(admitted(breaker), false), 'closed')
})

test('an attempt that told nothing does not count while closed', () => {
  const { breaker } = setUp()
  fail(breaker, 5)
  breaker.release(admitted(breaker))
  assert.deepEqual(fail(breaker, 1), ['opened'])
})

test('requests that were in flight when it opened neither prolong nor end that', () => {
  const { breaker, clock } = setUp()
  const early = Array.from({ length: 8 }, () => admitted(breaker))
  fail(breaker, 6)
  const before = breaker.snapshot()
  clock.at += SECOND
  for (const [index, pass] of early.entries()) assert.equal(breaker.settle(pass, index % 2 === 0), null)
  assert.deepEqual(breaker.snapshot(), before)
})

test('a trial asked for by hand passes while open, one at a time', () => {
  const { breaker } = setUp()
  fail(breaker, 6)
  const trial = admitted(breaker, true)
  assert.equal(breaker.admit(true), null)
  breaker.release(trial)
  assert.equal(breaker.settle(admitted(breaker, true), false), 'closed')
})

test('a bad trial asked for by hand opens it for another minute', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 6)
  const trial = admitted(breaker, true)
  clock.at += 30 * SECOND
  assert.equal(breaker.settle(trial, true), 'reopened')
  assert.equal(breaker.nextOfferAt, clock.at + 60 * SECOND)
  assert.notEqual(breaker.admit(true), null)
})

test('a trial asked for by hand passes beside the one of the half-open state', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 6)
  clock.at += 60 * SECOND
  const [own, byHand] = [admitted(breaker), admitted(breaker, true)]
  assert.equal(breaker.admit(true), null)
  assert.equal(breaker.settle(byHand, false), 'closed')
  assert.equal(breaker.settle(own, true), null)
  assert.equal(breaker.snapshot().consecutiveFailures, 0)
})

test('a good trial asked for by hand closes it, however many others are asked for', () => {
  const { breaker } = setUp({ half_open_requests: 3 })
  fail(breaker, 6)
  assert.equal(breaker.settle(admitted(breaker, true), false), 'closed')
})

test('a trial asked for by hand in an earlier time hinders no other one', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 6)
  clock.at += 60 * SECOND
  const [own] = [admitted(breaker), admitted(breaker, true)]
  assert.equal(breaker.settle(own, true), 'reopened')
  assert.equal(admitted(breaker, true).role, 'manual_trial')
})

test('a trial of an earlier time that told nothing makes no room for another one', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 6)
  clock.at += 60 * SECOND
  const early = admitted(breaker)
  breaker.reset()
  fail(breaker, 6)
  clock.at += 60 * SECOND
  admitted(breaker)
  breaker.release(early)
  assert.equal(breaker.admit(), null)
})

test('is as a new one is only while nothing has failed', () => {
  const { breaker } = setUp({ consecutive_failures: 1 })
  assert.equal(breaker.isPristine, true)
  for (let times = 1; times <= 2; times++) {
    fail(breaker, 1)
    assert.equal(breaker.isPristine, false)
  }
  breaker.reset()
  assert.equal(breaker.isPristine, true)
})

test('is not as a new one is while trials are still to come, however good the first ones were', () => {
  const { breaker, clock } = setUp({ half_open_requests: 3 })
  fail(breaker, 6)
  clock.at += 60 * SECOND
  assert.equal(breaker.settle(admitted(breaker), false), null)
  assert.deepEqual([breaker.snapshot().consecutiveFailures, breaker.isPristine], [0, false])
})

test('a reset closes it at once, and what is in flight counts no more', () => {
  const { breaker, clock } = setUp()
  fail(breaker, 6)
  clock.at += 60 * SECOND
  const trial = admitted(breaker)
  breaker.reset()
  assert.deepEqual(breaker.snapshot(), { state: 'closed', openUntil: null, consecutiveFailures: 0 })
  assert.equal(breaker.settle(trial, true), null)
  assert.equal(breaker.snapshot().consecutiveFailures, 0)
  breaker.reset()
  assert.equal(breaker.state, 'closed')
})

test('says why runs are blocked, open or half-open, and nothing when closed', () => {
  const { breaker, clock } = setUp()
  const reason = () => breaker.blockedReason('https://shop.example')
  assert.equal(reason(), null)
  fail(breaker, 6)
  assert.equal(reason(), 'circuit breaker is open for https://shop.example')
  clock.at += 60 * SECOND
  assert.equal(reason(), 'circuit breaker is half-open for https://shop.example')
})

test('a changed setting holds for the next decision', () => {
  const { breaker, settings, clock } = setUp()
  fail(breaker, 3)
  settings.consecutive_failures = 1
  settings.open_for = 1_000
  assert.deepEqual(fail(breaker, 1), ['opened'])
  settings.open_for = 9_000
  assert.equal(breaker.nextOfferAt, clock.at + SECOND, 'a time that was set stays')
})

test('closes when fewer trials are asked for than were good already', () => {
  const { breaker, settings, clock } = setUp({ half_open_requests: 3 })
  fail(breaker, 6)
  clock.at += 60 * SECOND
  assert.equal(breaker.settle(admitted(breaker), false), null)
  const trial = admitted(breaker)
  settings.half_open_requests = 1
  assert.equal(admitted(breaker).role, 'plain')
  assert.equal(breaker.state, 'closed')
  assert.equal(breaker.settle(trial, true), null, 'a trial that is still in flight says nothing any more')
})

test('whatever happens it is never stuck, and lets through no more trials than it may', () => {
  const action = fc.oneof(
    fc.record({ kind: fc.constantFrom('admit' as const, 'manual' as const) }),
    fc.record({
      kind: fc.constantFrom('fail' as const, 'fail' as const, 'good' as const, 'release' as const),
      index: fc.nat(20),
    }),
    fc.record({ kind: fc.constant('wait' as const), micros: fc.integer({ min: 0, max: 70 * SECOND }) }),
    fc.record({ kind: fc.constantFrom('reset' as const) }),
    fc.record({ kind: fc.constant('set' as const), half_open_requests: fc.integer({ min: 1, max: 3 }) }),
  )
  const settings = fc.record({
    consecutive_failures: fc.nat(4),
    open_for: fc.constant(60_000),
    half_open_requests: fc.integer({ min: 1, max: 3 }),
  })
  fc.assert(
    fc.property(settings, fc.array(action, { maxLength: 80 }), (given, actions) => {
      const { breaker, clock, settings } = setUp(given)
      let flying: BreakerPass[] = []
      let mostTrials = given.half_open_requests
      for (const each of actions) {
        if (each.kind === 'wait') clock.at += each.micros
        else if (each.kind === 'set') {
          settings.half_open_requests = each.half_open_requests
          mostTrials = Math.max(mostTrials, each.half_open_requests)
        } else if (each.kind === 'reset') breaker.reset()
        else if (!('index' in each)) {
          const pass = breaker.admit(each.kind === 'manual')
          if (pass !== null) flying.push(pass)
        } else {
          const pass = flying[each.index % Math.max(1, flying.length)]
          if (pass === undefined) continue
          flying = flying.filter((other) => other !== pass)
          if (each.kind === 'release') breaker.release(pass)
          else breaker.settle(pass, each.kind === 'fail')
        }
        const newest = Math.max(0, ...flying.map(({ generation }) => generation))
        const trials = flying.filter(({ role, generation }) => role === 'trial' && generation === newest)
        const byHand = flying.filter(({ role, generation }) => role === 'manual_trial' && generation === newest)
        assert.ok(trials.length <= mostTrials && byHand.length <= 1)
        if (breaker.state === 'closed') assert.ok(breaker.snapshot().consecutiveFailures <= given.consecutive_failures)
      }
      for (const pass of flying) breaker.release(pass)
      clock.at += 60 * SECOND
      for (let trial = 0; trial < settings.half_open_requests; trial++) breaker.settle(admitted(breaker), false)
      assert.equal(breaker.state, 'closed')
    }),
    { numRuns: 200 },
  )
})
