import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../../test/support/silent-logger.ts'
import type { BucketSettings } from './bucket.ts'
import { MemoryWindows } from './memory-windows.ts'
import { rateHeaders } from './rate-headers.ts'
import { RateLimiter, type Spend, type Verdict } from './rate-limiter.ts'

const START = '2030-01-01T00:00:10Z'

function limiter(buckets: Record<string, BucketSettings>) {
  const clock = new FakeClock(START)
  const rateLimiter = new RateLimiter({ buckets, clock, log: silentLogger() })
  const spend = (...spends: Spend[]) => rateLimiter.spend(spends) as Verdict
  return { clock, rateLimiter, spend }
}

test('the request that would pass the limit is refused, and the next window begins with the clock', async () => {
  const { clock, spend } = limiter({ read: { limit: 2, period: 60_000 } })
  const one = { bucket: 'read', subject: 'ada' }
  assert.equal(spend(one).tightest?.remaining, 1)
  assert.equal(spend(one).tightest?.remaining, 0)
  assert.equal(spend(one).allowed, false)
  await clock.advance(49_000)
  assert.equal(spend(one).allowed, false)
  await clock.advance(1_000)
  assert.deepEqual([spend(one).allowed, spend(one).allowed, spend(one).allowed], [true, true, false])
})

test('subjects have counters of their own', () => {
  const { spend } = limiter({ read: { limit: 1, period: 60_000 } })
  assert.equal(spend({ bucket: 'read', subject: 'ada' }).allowed, true)
  assert.equal(spend({ bucket: 'read', subject: 'ada' }).allowed, false)
  assert.equal(spend({ bucket: 'read', subject: 'bob' }).allowed, true)
})

test('a bucket that the caller brings along counts as those of the settings do, also when its size changes', () => {
  const { spend } = limiter({})
  const bucket = (limit: number) => ({ name: 'own', limit, periodMicros: 60_000_000 })
  assert.equal(spend({ bucket: bucket(1), subject: 'ada' }).allowed, true)
  assert.equal(spend({ bucket: bucket(1), subject: 'ada' }).allowed, false)
  assert.equal(spend({ bucket: bucket(2), subject: 'ada' }).allowed, true)
})

test('a request that does the work of several counts as several, or not at all', () => {
  const { spend } = limiter({ invitations: { limit: 10, period: 60_000 } })
  const cost = (n: number) => spend({ bucket: 'invitations', subject: 'ada', cost: n })
  assert.equal(cost(7).tightest?.remaining, 3)
  assert.deepEqual([cost(4).allowed, cost(4).tightest?.remaining], [false, 3])
  assert.equal(cost(3).tightest?.remaining, 0)
  assert.equal(cost(11).allowed, false)
})

test('of several limits the tightest is reported, and a refusal by one counts in none', () => {
  const { spend } = limiter({ token: { limit: 3, period: 60_000 }, user: { limit: 2, period: 60_000 } })
  const both = [
    { bucket: 'token', subject: 't' },
    { bucket: 'user', subject: 'u' },
  ]
  assert.equal(spend(...both).tightest?.bucket.name, 'user')
  assert.equal(spend(...both).allowed, true)
  assert.deepEqual([spend(...both).allowed, spend(...both).tightest?.bucket.name], [false, 'user'])
  assert.equal(spend({ bucket: 'token', subject: 't' }).tightest?.remaining, 0)
})

test('a limit of 0 and an unknown bucket limit nothing', () => {
  const { spend, rateLimiter } = limiter({ off: { limit: 0, period: 60_000 }, endless: { limit: 1, period: 0 } })
  assert.equal(rateLimiter.isOn('endless'), false)
  assert.deepEqual(spend({ bucket: 'off', subject: 'ada' }), { allowed: true, tightest: null })
  assert.deepEqual(spend({ bucket: 'unheard-of', subject: 'ada' }), { allowed: true, tightest: null })
  assert.equal(rateLimiter.isOn('off'), false)
})

test('counters in memory are bounded, and a new window forgets the old one', () => {
  const windows = new MemoryWindows(3)
  const bucket = { name: 'b', limit: 9, periodMicros: 1_000_000 }
  for (const subject of ['a', 'b', 'c', 'd', 'e']) windows.set(bucket, 0, subject, 5)
  assert.equal(windows.size, 3)
  assert.equal(windows.used(bucket, 0, 'e'), 5)
  assert.equal(windows.used(bucket, 0, 'a'), 0)
  windows.set(bucket, 1_000_000, 'a', 1)
  assert.equal(windows.size, 1)
})

test('whoever is counted already takes the place of nobody else', () => {
  const windows = new MemoryWindows(2)
  const bucket = { name: 'b', limit: 9, periodMicros: 1_000_000 }
  for (const [subject, used] of [
    ['a', 5],
    ['b', 6],
    ['b', 7],
  ] as const)
    windows.set(bucket, 0, subject, used)
  assert.deepEqual([windows.used(bucket, 0, 'a'), windows.used(bucket, 0, 'b')], [5, 7])
})

test('headers come in two styles: seconds with the name of the bucket, and the time of the reset', async () => {
  const { clock, spend } = limiter({ read: { limit: 600, period: 60_000 } })
  await clock.advance(500)
  const { tightest } = spend({ bucket: 'read', subject: 'ada' })
  assert.ok(tightest)
  assert.deepEqual(rateHeaders('seconds', tightest, clock.now()), {
    'x-ratelimit-limit': '600',
    'x-ratelimit-remaining': '599',
    'x-ratelimit-period': '60',
    'x-ratelimit-reset': '50',
    'x-ratelimit-name': 'read',
  })
  assert.deepEqual(rateHeaders('instant', tightest, clock.now()), {
    'x-ratelimit-limit': '600',
    'x-ratelimit-remaining': '599',
    'x-ratelimit-reset': '2030-01-01T00:01:00.000000Z',
  })
})
