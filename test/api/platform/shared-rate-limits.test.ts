import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { RateLimiter } from '../../../src/platform/rate-limit/rate-limiter.ts'
import type { Database } from '../../../src/platform/storage/database.ts'
import { eachDatabase } from '../../support/each-database.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { silentLogger } from '../../support/silent-logger.ts'

const ONE = [{ bucket: 'read', subject: 'ada' }]

function limiterOn(db: Database, clock: FakeClock, limit = 5) {
  return new RateLimiter({ buckets: { read: { limit, period: 60_000 } }, clock, log: silentLogger(), db })
}

async function countWindows(db: Database): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from rate_windows`.execute(db.query)
  return Number(rows[0]?.n)
}

eachDatabase('shared rate limits', ({ engine, open, openAgain }) => {
  test('racing requests never get more than the limit, and a new window starts afresh', async () => {
    const clock = new FakeClock()
    const limiter = limiterOn(await open(), clock)
    const race = async () =>
      (await Promise.all(Array.from({ length: 20 }, () => limiter.spend(ONE)))).filter((v) => v.allowed)
    assert.equal((await race()).length, 5)
    await clock.advance(60_000)
    assert.equal((await race()).length, 5)
  })

  test('two processes count together on PostgreSQL; SQLite has one process and counts in memory', async () => {
    const clock = new FakeClock()
    const db = await open()
    const here = limiterOn(db, clock)
    const there = limiterOn(await openAgain(db), clock)
    let allowed = 0
    for (let i = 0; i < 6; i++) {
      if ((await here.spend(ONE)).allowed) allowed++
      if ((await there.spend(ONE)).allowed) allowed++
    }
    assert.equal(allowed, engine === 'postgres' ? 5 : 10)
  })

  test('a bucket of its own for each process costs no query', async () => {
    const clock = new FakeClock()
    const db = await open()
    const own = [{ bucket: { name: 'own', limit: 2, periodMicros: 60_000_000, isLocal: true }, subject: 'ada' }]
    const limiter = limiterOn(db, clock)
    for (const allowed of [true, true, false]) {
      const verdict = limiter.spend(own)
      assert.ok(!(verdict instanceof Promise))
      assert.equal(verdict.allowed, allowed)
    }
    assert.equal(await countWindows(db), 0)
  })

  test('a cost that does not fit is not counted', async () => {
    const limiter = limiterOn(await open(), new FakeClock(), 10)
    const cost = (n: number) => limiter.spend([{ bucket: 'read', subject: 'ada', cost: n }])
    assert.equal((await cost(7)).tightest?.remaining, 3)
    assert.deepEqual([(await cost(4)).allowed, (await cost(4)).tightest?.remaining], [false, 3])
    assert.equal((await cost(3)).tightest?.remaining, 0)
  })

  test('old windows are swept, and a caller over the limit costs no query', { skip: engine === 'sqlite' }, async () => {
    const clock = new FakeClock()
    const db = await open()
    const limiter = limiterOn(db, clock, 1)
    await limiter.spend(ONE)
    await limiter.spend([{ bucket: 'read', subject: 'bob' }])
    assert.equal(await countWindows(db), 2)
    await clock.advance(60_000)
    await limiter.spend(ONE)
    // The sweep runs beside the request; one that never came would keep the test waiting.
    while ((await countWindows(db)) > 1);
    assert.equal(await countWindows(db), 1)
    await db.close()
    assert.equal((await limiter.spend(ONE)).allowed, false)
  })

  test('without storage a process counts by itself instead of refusing or letting all through', async () => {
    const db = await open()
    const limiter = limiterOn(db, new FakeClock(), 2)
    await db.close()
    const verdicts = [await limiter.spend(ONE), await limiter.spend(ONE), await limiter.spend(ONE)]
    assert.deepEqual(
      verdicts.map((verdict) => verdict.allowed),
      [true, true, false],
    )
  })
})
