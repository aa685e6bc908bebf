import assert from 'node:assert/strict'
import { it } from 'node:test'
import { nextOccurrence } from '../../src/platform/jobs/recurring.ts'
import { jobBench } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'

it('the next occurrence keeps step with the last and does not make up for missed ones', () => {
  assert.equal(nextOccurrence(1_000, 10, 1_500), 11_000)
  assert.equal(nextOccurrence(1_000, 10, 11_000), 21_000)
  assert.equal(nextOccurrence(1_000, 10, 45_000), 51_000)
})

eachDatabase('recurring work', ({ open, openAgain }) => {
  it('is done once per interval by several processes together', async () => {
    const db = await open()
    const clock = new FakeClock()
    let runs = 0
    const benches = [db, await openAgain(db)].map((each) => {
      const bench = jobBench(each, { clock })
      bench.engine.recurring({
        name: 'sweep',
        everyMs: 60_000,
        run: async () => {
          runs++
        },
      })
      return bench
    })
    for (let minute = 1; minute <= 3; minute++) {
      for (let look = 0; look < 3; look++) for (const bench of benches) await bench.turn()
      assert.equal(runs, minute)
      await clock.advance(60_000)
    }
    assert.equal((await benches[0]?.rows())?.length, 1)
  })

  it('goes on after failures, sooner than a whole interval, and never dies', async () => {
    const bench = jobBench(await open())
    let runs = 0
    bench.engine.recurring({
      name: 'shaky',
      everyMs: 3_600_000,
      run: async () => {
        if (++runs < 4) throw new Error('not yet')
      },
    })
    for (let step = 0; step < 12; step++) {
      await bench.turn()
      await bench.clock.advance(1_000)
    }
    assert.equal(runs, 4)
    const [row] = await bench.rows()
    assert.deepEqual([row?.state, row?.attempt, row?.last_error], ['waiting', 0, null])
  })

  it('settles in its own transaction and still comes again', async () => {
    const db = await open()
    const bench = jobBench(db)
    let runs = 0
    bench.engine.recurring({
      name: 'exact',
      everyMs: 1_000,
      run: async ({ complete }) => {
        runs++
        await db.write((tx) => complete(tx))
      },
    })
    for (let step = 0; step < 3; step++) {
      await bench.turn()
      await bench.clock.advance(1_000)
    }
    assert.equal(runs, 3)
    assert.equal((await bench.rows()).length, 1)
  })

  it('follows a shorter interval after a restart, and a restart alone runs nothing', async () => {
    const db = await open()
    const clock = new FakeClock()
    let runs = 0
    const startWith = async (everyMs: number) => {
      const bench = jobBench(db, { clock })
      bench.engine.recurring({
        name: 'tuned',
        everyMs,
        run: async () => {
          runs++
        },
      })
      await bench.turn()
      return bench
    }
    await startWith(3_600_000)
    await startWith(3_600_000)
    assert.equal(runs, 1)
    const bench = await startWith(60_000)
    assert.equal(runs, 1)
    await clock.advance(60_001)
    await bench.turn()
    assert.equal(runs, 2)
  })

  it('is done at every start where that is asked for, also when a restored backup says that it is due later', async () => {
    const db = await open()
    const clock = new FakeClock()
    let runs = 0
    for (let start = 1; start <= 2; start++) {
      const bench = jobBench(db, { clock })
      bench.engine.recurring({
        name: 'left-over',
        everyMs: 3_600_000,
        atStart: true,
        run: async () => {
          runs++
        },
      })
      await bench.turn()
      assert.equal(runs, start)
      assert.equal((await bench.rows()).length, 1)
    }
  })
})
