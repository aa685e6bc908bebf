import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type MachineTime, MICROS_PER_MS, SystemClock } from '../../src/platform/clock/clock.ts'
import type { Logger } from '../../src/platform/logging/logger.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { DatabaseTime, databaseTime } from '../../src/platform/storage/database-time.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

const unavailable = postgresUnavailable()
// Far more than a question to the database can take.
const NEAR_MS = 30_000
const HOUR_MS = 3_600_000

/** This machine with its clock set wrong. */
function machine(aheadMs: number): MachineTime & { aheadMs: number } {
  return {
    aheadMs,
    originMs: performance.timeOrigin + aheadMs,
    wallMs() {
      return Date.now() + this.aheadMs
    },
    elapsedMs: () => performance.now(),
  }
}

/** The minute between two looks is over as soon as the test says so. */
class LookingClock extends SystemClock {
  look = () => {}

  override after(_ms: number, callback: () => void): () => void {
    this.look = callback
    return () => {}
  }
}

describe('the time of several servers on one PostgreSQL', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, () => {
  let database: TestDatabase
  let db: Database

  before(async () => {
    database = await createDatabase({ migrated: false })
    db = await openDatabase({
      clock: new SystemClock(),
      log: silentLogger(),
      dataDir: tempDir(),
      databaseUrl: database.url,
    })
  })

  after(async () => {
    await db.close()
    await database.drop()
  })

  const differenceMs = (clock: SystemClock) => Math.abs(clock.now() / MICROS_PER_MS - Date.now())

  for (const aheadMs of [-HOUR_MS, HOUR_MS]) {
    test(`is that of the database where a machine is ${aheadMs / HOUR_MS} hours ahead, and its log says so`, async () => {
      const clock = new SystemClock(machine(aheadMs))
      assert.ok(differenceMs(clock) > HOUR_MS - NEAR_MS)
      const warnings: string[] = []
      const log = Object.assign(silentLogger(), { warn: (text: string) => warnings.push(text) }) as Logger
      await new DatabaseTime({ db, clock, log }).begin()
      assert.ok(differenceMs(clock) < NEAR_MS)
      assert.equal(warnings.length, 1)
      assert.match(warnings[0] as string, aheadMs > 0 ? /3600\.\d s ahead of / : /3600\.\d s behind /)
    })
  }

  test('is asked again while the server runs', async () => {
    const wrong = machine(0)
    const clock = new LookingClock(wrong)
    clock.begin(Date.now() - HOUR_MS)
    const time = new DatabaseTime({ db, clock, log: silentLogger() })
    const stop = new AbortController()
    const running = time.run(stop.signal)
    // What the machine says of itself does not matter.
    wrong.aheadMs = HOUR_MS
    assert.ok(differenceMs(clock) > HOUR_MS - NEAR_MS)
    while (differenceMs(clock) > NEAR_MS) {
      clock.look()
      await new Promise((resolve) => setImmediate(resolve))
    }
    stop.abort()
    await running
  })

  test('is asked at once when the machine slept or its clock was set', async () => {
    const wrong = machine(0)
    const clock = new LookingClock(wrong)
    clock.begin(Date.now() - HOUR_MS)
    const stop = new AbortController()
    const running = new DatabaseTime({ db, clock, log: silentLogger() }).run(stop.signal)
    wrong.aheadMs = HOUR_MS
    while (differenceMs(clock) > NEAR_MS) await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await running
  })

  test('that was set back too far is not followed, and the log says what to do', async () => {
    const clock = new LookingClock(machine(0))
    clock.begin(Date.now() + HOUR_MS)
    const { promise: told, resolve } = Promise.withResolvers<string>()
    const log = Object.assign(silentLogger(), { error: resolve }) as unknown as Logger
    const stop = new AbortController()
    const running = new DatabaseTime({ db, clock, log }).run(stop.signal)
    clock.look()
    assert.match(await told, /set back by more than a minute: restart/)
    assert.ok(differenceMs(clock) > HOUR_MS - NEAR_MS)
    stop.abort()
    await running
  })

  test('is the own one where a test drives it', () => {
    const clock = { now: () => 0, elapsedMs: () => 0, after: () => () => {} }
    assert.equal(databaseTime(db, clock, silentLogger()), null)
  })
})
