import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Timekeeper } from '../../src/callbacks/deliver/timekeeper.ts'
import { STATE_NUMBERS } from '../../src/callbacks/state/run-state.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import type { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { withMember } from '../support/with-member.ts'
import { refuseTransitions } from './refuse-transitions.ts'
import { start, startMany } from './store-world.ts'

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

/** The same database, of which the first question is not answered. */
function failingOnce(db: Database): Database {
  let isFailed = false
  const run: Database['run'] = async (statement, input) => {
    if (isFailed) return db.run(statement, input)
    isFailed = true
    throw new AppError('unavailable', 'Storage does not answer right now: repeat the request')
  }
  return withMember(db, 'run', run)
}

/** A keeper of times, and what it says: a word and the number of the run. */
function keeperOf(db: Database, clock: FakeClock) {
  const said: [string, number][] = []
  const first = Promise.withResolvers<void>()
  const say = (word: string) => (run: { runNumber: number }) => {
    said.push([word, run.runNumber])
    first.resolve()
  }
  const log = silentLogger()
  const timekeeper = new Timekeeper({
    db,
    clock,
    log,
    onDue: say('due'),
    onStarted: () => {},
    onTimedOut: say('timed out'),
  })
  return { timekeeper, said, first: first.promise }
}

eachDatabase('the keeper of times', ({ open, engine }) => {
  const skip = engine === 'postgres' && 'it looks again by itself there'

  test('applies what was due while the database did not answer soon after it does again', async () => {
    const db = await open()
    const clock = new FakeClock()
    const run = await backingOff(db, clock.now() - 10_000)
    const { timekeeper, said, first } = keeperOf(failingOnce(db), clock)
    await timekeeper.start()
    assert.deepEqual(said, [])
    await clock.advance(1_500)
    await first
    assert.deepEqual(said, [['due', run]])
    timekeeper.stop()
  })

  test('times a run out whose backoff was over, too, and says of none that is closed that it is due', async () => {
    const db = await open()
    const clock = new FakeClock()
    const over = clock.now() - 10_000
    const run = await backingOff(db, over)
    await db.write((tx) =>
      sql`update callback_runs set deadline_at = ${over} where run_number = ${run}`.execute(tx.query),
    )
    const { timekeeper, said } = keeperOf(db, clock)
    await timekeeper.start()
    assert.deepEqual(said, [['timed out', run]])
    timekeeper.stop()
  })

  // Each change that is refused takes a transaction of its own.
  test('comes to what is behind any number of runs that the database refuses', { timeout: 240_000 }, async () => {
    const db = await open()
    const clock = new FakeClock()
    const over = clock.now() - 10_000
    const refused = Array.from({ length: 251 }, (_, n) => ({ callbackId: `refused-${n}` }))
    await startMany(db, [...refused, ...refused.map(({ callbackId }) => ({ callbackId: `${callbackId}-backoff` }))])
    const [timeout, backoff] = [await start(db), await start(db)]
    const run = (text: string) => db.write((tx) => sql.raw(text).execute(tx.query))
    await run(`update callback_runs set deadline_at = ${over}`)
    await run(`update callback_runs set deadline_at = ${over + 1} where run_number = ${timeout.runNumber}`)
    const backingOff = `state = ${STATE_NUMBERS.BACKING_OFF}, attempt = 1, deadline_at = null`
    await run(`update callback_runs set ${backingOff}, due_at = ${over} where callback_id like '%-backoff'`)
    await run(`update callback_runs set ${backingOff}, due_at = ${over} where run_number = ${backoff.runNumber}`)
    await refuseTransitions(db, `new.callback_id like 'refused-%'`)
    const { timekeeper, said } = keeperOf(db, clock)
    await timekeeper.start()
    assert.deepEqual(said, [
      ['timed out', timeout.runNumber],
      ['due', backoff.runNumber],
    ])
    timekeeper.stop()
  })

  test('ends within seconds a backoff that another process left behind', {
    skip: engine === 'sqlite' && 'there is no other process',
  }, async () => {
    const db = await open()
    const clock = new FakeClock()
    const { timekeeper, said, first } = keeperOf(db, clock)
    await timekeeper.start()
    const run = await backingOff(db, clock.now())
    await clock.advance(5_500)
    await first
    assert.deepEqual(said, [['due', run]])
    timekeeper.stop()
  })

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
