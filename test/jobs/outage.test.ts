import assert from 'node:assert/strict'
import { it } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { JobEngine } from '../../src/platform/jobs/job-engine.ts'
import { jobKind } from '../../src/platform/jobs/job-kind.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { takeAway } from '../support/take-away.ts'
import { Steered } from './job-bench.ts'

eachDatabase('a database server that goes away', ({ open, placeOf, engine: databaseEngine }) => {
  it('stops no engine: a job that ends meanwhile is settled, and new work is found afterwards', {
    skip: databaseEngine === 'sqlite' && 'SQLite has no server',
  }, async () => {
    const db = await open()
    const engine = new JobEngine({ db, clock: new SystemClock(), log: silentLogger(), pollMs: 50 })
    const kind = jobKind<number>('steadfast')
    const steered = new Steered<number>()
    engine.register(kind, steered.handler)
    engine.start()
    await db.write((tx) => engine.enqueue(tx, { kind, payload: 1 }))
    const first = await steered.next()
    const back = await takeAway(placeOf(db).databaseUrl as string)
    first.finish()
    await assert.rejects(db.ping(), { code: 'unavailable' })
    await back()
    await engine.whenIdle()
    await db.write((tx) => engine.enqueue(tx, { kind, payload: 2 }))
    const second = await steered.next()
    second.finish()
    await engine.whenIdle()
    await engine.stop()
    assert.deepEqual([second.job.payload, first.job.attempt], [2, 1])
    assert.deepEqual(await db.query.selectFrom('jobs').selectAll().execute(), [])
  })
})
