import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { RunWatch } from '../../src/callbacks/run/run-watch.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { somebodyWaits } from '../support/somebody-waits.ts'

eachDatabase('waiting for runs', ({ engine, open, openAgain }) => {
  const skip = engine === 'sqlite' && 'there is only one process, which tells of each change'

  test('a slow database is looked at once at a time, and who comes meanwhile is looked after next', {
    skip,
  }, async () => {
    const db = await open({ poolSize: 2 })
    const [other, observer] = [await openAgain(db), await openAgain(db)]
    const clock = new FakeClock()
    const watch = new RunWatch({ db, clock })
    const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = other.write(async (tx) => {
      await sql`lock table callback_runs in access exclusive mode`.execute(tx.query)
      locked.resolve()
      await over.promise
    })
    await locked.promise
    const first = watch.changed(1, 0, 60_000)
    await clock.advance(600)
    await somebodyWaits(observer)
    const others = [2, 3].map((run) => watch.changed(run, 0, 60_000))
    await clock.advance(5_000)
    // A second look would have the other connection.
    await assert.doesNotReject(db.ping())
    over.resolve()
    await slow
    await first
    await clock.advance(600)
    await Promise.all(others)
  })
})
