import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Timekeeper } from '../../src/callbacks/deliver/timekeeper.ts'
import { STATE_NUMBERS } from '../../src/callbacks/state/run-state.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import type { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { start } from './store-world.ts'

const HOUR = 3_600_000_000

async function backingOff(db: Database, dueAt: number): Promise<number> {
  const { runNumber } = await start(db)
  const state = STATE_NUMBERS.BACKING_OFF
  await db.write((tx) =>
    sql`update callback_runs set state = ${state}, attempt = 1, due_at = ${dueAt} where run_number = ${runNumber}`.execute(
      tx.query,
    ),
  )
  return runNumber
}

eachDatabase('the keeper of times', ({ open, engine }) => {
  const skip = engine === 'postgres' && 'it looks again by itself there'

  test('ends a backoff that was over before it was stored, also when it hears of it during a look', {
    skip,
  }, async () => {
    const db = await open()
    const clock = new FakeClock()
    const over = clock.now() - 10_000
    const [first, second] = [await backingOff(db, over), await backingOff(db, over + HOUR)]
    const ended: number[] = []
    const both = Promise.withResolvers<void>()
    const timekeeper = new Timekeeper({
      db,
      clock,
      log: silentLogger(),
      onDue: ({ runNumber }) => {
        if (ended.push(runNumber) === 2) both.resolve()
      },
      onStarted: () => {},
      onTimedOut: () => {},
    })
    const looking = timekeeper.start()
    // Rings when promises that are settled have gone on: it has read what is due by then, and waits for its turn to write.
    timekeeper.wakeAt(over)
    for (let turn = 0; turn < 100; turn++) await null
    const other = new DatabaseSync((db as SqliteDatabase).file)
    other.prepare('update callback_runs set due_at = ? where run_number = ?').run(over, second)
    other.close()
    await looking
    await both.promise
    assert.deepEqual(ended, [first, second])
    timekeeper.stop()
  })
})
