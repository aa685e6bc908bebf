import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LookUpCache } from '../../src/platform/auth/look-up-cache.ts'
import { FakeClock } from '../support/fake-clock.ts'

function newCache(max = 3) {
  const clock = new FakeClock()
  return { clock, cache: new LookUpCache<string>({ clock, maxAgeMs: 1_000, maxFound: max, maxMissing: max }) }
}

function counting(value: string | undefined) {
  const look = {
    times: 0,
    async up() {
      look.times++
      return value
    },
  }
  return look
}

test('an answer is remembered for less than a second, a miss as well', async () => {
  for (const value of ['x', undefined]) {
    const { clock, cache } = newCache()
    const look = counting(value)
    for (const wait of [0, 500, 499]) {
      await clock.advance(wait)
      assert.equal(await cache.get('k', look.up), value)
    }
    assert.equal(look.times, 1)
    await clock.advance(1)
    await cache.get('k', look.up)
    assert.equal(look.times, 2)
  }
})

test('reading a key often does not keep it alive', async () => {
  const { clock, cache } = newCache()
  const look = counting('x')
  for (let i = 0; i < 30; i++) {
    await cache.get('k', look.up)
    await clock.advance(100)
  }
  assert.equal(look.times, 3)
})

test('those who ask at the same time share one look-up', async () => {
  const { cache } = newCache()
  const look = counting('x')
  await Promise.all([cache.get('k', look.up), cache.get('k', look.up), cache.get('k', look.up)])
  assert.equal(look.times, 1)
})

test('what was being read when everything was forgotten is not remembered', async () => {
  const { cache } = newCache()
  const { promise, resolve } = Promise.withResolvers<string>()
  const old = cache.get('k', () => promise)
  cache.clear()
  const look = counting('new')
  const fresh = cache.get('k', look.up)
  resolve('old')
  assert.equal(await old, 'old')
  assert.equal(await fresh, 'new')
  assert.equal(await cache.get('k', look.up), 'new')
  assert.equal(look.times, 1)
})

test('all is forgotten together, what was found and what was not', async () => {
  const { cache } = newCache()
  await cache.get('found', async () => 'old')
  await cache.get('missing', async () => undefined)
  cache.clear()
  assert.equal(cache.size, 0)
  assert.equal(await cache.get('found', async () => undefined), undefined)
  assert.equal(await cache.get('missing', async () => 'new'), 'new')
})

test('a look-up that fails late takes nothing from the one that followed it', async () => {
  const { cache } = newCache()
  const { promise, reject } = Promise.withResolvers<string>()
  const old = cache.get('k', () => promise)
  cache.clear()
  const later = Promise.withResolvers<string>()
  const fresh = cache.get('k', () => later.promise)
  reject(new Error('storage'))
  await assert.rejects(old, /storage/)
  const shared = cache.get('k', async () => 'another')
  later.resolve('new')
  assert.deepEqual(await Promise.all([fresh, shared]), ['new', 'new'])
})

test('a failed look-up is told to all who wait and tried again by the next', async () => {
  const { cache } = newCache()
  const fail = () => Promise.reject(new Error('storage'))
  const results = await Promise.allSettled([cache.get('k', fail), cache.get('k', fail)])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await cache.get('k', async () => 'x'), 'x')
})

test('memory is bounded, and misses push out no hits', async () => {
  const { cache } = newCache(3)
  const hit = counting('x')
  await cache.get('hit', hit.up)
  for (let i = 0; i < 100; i++) await cache.get(`miss ${i}`, async () => undefined)
  assert.equal(cache.size, 4)
  await cache.get('hit', hit.up)
  assert.equal(hit.times, 1)
})

test('what was not used for longest goes first', async () => {
  const { cache } = newCache(2)
  const [a, b] = [counting('a'), counting('b')]
  await cache.get('a', a.up)
  await cache.get('b', b.up)
  await cache.get('a', a.up)
  await cache.get('c', async () => 'c')
  await cache.get('a', a.up)
  await cache.get('b', b.up)
  assert.deepEqual([a.times, b.times], [1, 2])
})
