import assert from 'node:assert/strict'
import { it } from 'node:test'
import { MICROS_PER_MS, SystemClock } from '../../src/platform/clock/clock.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { LeaseLost, ShuttingDown } from '../../src/platform/jobs/failures.ts'
import { JobEngine } from '../../src/platform/jobs/job-engine.ts'
import { jobKind } from '../../src/platform/jobs/job-kind.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { Supervisor } from '../../src/platform/supervisor/supervisor.ts'
import { jobBench, recording, Steered } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'

eachDatabase('the job engine', ({ open, openAgain }) => {
  it('two engines work one queue: every job runs once, and two of one key never at the same time', async () => {
    const db = await open()
    const kind = jobKind<number>('shared', { concurrency: 8 })
    const clock = new SystemClock()
    const dbs = [db, await openAgain(db)]
    const runs = new Map<number, number>()
    const busyKeys = new Set<string>()
    const total = 120
    const { promise: allDone, resolve } = Promise.withResolvers<void>()
    let overlaps = 0
    const engines = dbs.map((each) => new JobEngine({ db: each, clock, log: silentLogger(), pollMs: 50 }))
    for (const [index, engine] of engines.entries()) {
      engine.register(kind, async ({ key, payload }) => {
        if (key !== null && busyKeys.has(key)) overlaps++
        if (key !== null) busyKeys.add(key)
        await dbs[index]?.ping()
        await new Promise((next) => setImmediate(next))
        if (key !== null) busyKeys.delete(key)
        else runs.set(payload, (runs.get(payload) ?? 0) + 1)
        if (runs.size === total) resolve()
      })
      engine.start()
    }
    for (let batch = 0; batch < 6; batch++) {
      await db.write(async (tx) => {
        for (let n = 0; n < 20; n++) await engines[0]?.enqueue(tx, { kind, payload: batch * 20 + n })
        await engines[0]?.enqueue(tx, { kind, key: `k${batch % 2}`, payload: -1 })
      })
    }
    await allDone
    await Promise.all(engines.map((engine) => engine.stop()))
    for (let n = 0; n < total; n++) assert.equal(runs.get(n), 1, `job ${n}`)
    assert.equal(overlaps, 0)
  })

  it('the flood of one kind, all of it stuck, delays no other kind', async () => {
    const bench = jobBench(await open())
    const flood = jobKind<number>('flood', { concurrency: 2 })
    const calm = jobKind<number>('calm', { concurrency: 2 })
    const stuck = new Steered<number>()
    bench.engine.register(flood, stuck.handler)
    const seen = recording(calm, bench.engine)
    for (let n = 0; n < 30; n++) await bench.add({ kind: flood, payload: n })
    await bench.add({ kind: calm, payload: 1 })
    await bench.engine.tick()
    await bench.engine.tick()
    const rows = await bench.rows()
    assert.equal(rows.filter((row) => row.state === 'running' && row.kind === 'flood').length, 2)
    for (const run of stuck.open) run.finish()
    await bench.engine.whenIdle()
    assert.deepEqual(
      seen.map((job) => job.payload),
      [1],
    )
  })

  it('starts by itself: at once when work is committed, later when it becomes due', async () => {
    const clock = new SystemClock()
    const db = await open()
    // Without a poll only the wake-ups are left.
    const engine = new JobEngine({ db, clock, log: silentLogger(), pollMs: 3_600_000 })
    const kind = jobKind<string>('woken')
    const steered = new Steered<string>()
    engine.register(kind, steered.handler)
    engine.start()
    for (const delayMs of [0, 0, 60]) {
      const dueAt = clock.now() + delayMs * MICROS_PER_MS
      await db.write((tx) => engine.enqueue(tx, { kind, payload: 'x', dueAt }))
      const run = await steered.next()
      assert.ok(clock.now() >= dueAt)
      run.finish()
    }
    await engine.stop()
  })

  it('hears of work that another process committed', async () => {
    const db = await open()
    const other = await openAgain(db)
    const clock = new SystemClock()
    const engine = new JobEngine({ db, clock, log: silentLogger(), pollMs: db.engine === 'postgres' ? 3_600_000 : 50 })
    const kind = jobKind<null>('remote')
    const steered = new Steered<null>()
    engine.register(kind, steered.handler)
    engine.start()
    const stranger = new JobEngine({ db: other, clock, log: silentLogger() })
    await other.write((tx) => stranger.enqueue(tx, { kind, payload: null }))
    const run = await steered.next()
    run.finish()
    await engine.stop()
  })

  it('renews the lease of a job that takes long, and nobody takes it over', async () => {
    const db = await open()
    const clock = new FakeClock()
    const kind = jobKind<null>('long')
    const [busy, idle] = [jobBench(db, { clock }), jobBench(db, { clock })]
    const steered = new Steered<null>()
    const taken = new Steered<null>()
    busy.engine.register(kind, steered.handler)
    idle.engine.register(kind, taken.handler)
    await busy.add({ kind, payload: null })
    await busy.engine.tick()
    const run = await steered.next()
    for (let beat = 0; beat < 12; beat++) {
      await clock.advance(7_500)
      // The tick waits for the renewal that the beat began.
      await busy.engine.tick()
      await idle.engine.tick()
    }
    assert.equal(run.context.signal.aborted, false)
    assert.equal(taken.begun, 0)
    run.finish()
    await busy.turn()
    assert.equal((await busy.rows()).length, 0)
  })

  it('asks a handler to stop when its lease was lost, and records nothing for it', async () => {
    const db = await open()
    const bench = jobBench(db)
    const kind = jobKind<null>('robbed')
    const steered = new Steered<null>()
    bench.engine.register(kind, steered.handler)
    await bench.add({ kind, payload: null })
    await bench.engine.tick()
    const run = await steered.next()
    await db.write(async (tx) => {
      await tx.query.updateTable('jobs').set({ lease_owner: 'another', fence: 7 }).execute()
    })
    const aborted = new Promise((resolve) => run.context.signal.addEventListener('abort', resolve, { once: true }))
    await bench.clock.advance(16_000)
    await bench.engine.tick()
    await aborted
    assert.ok(run.context.signal.reason instanceof LeaseLost)
    run.fail(run.context.signal.reason)
    await bench.engine.whenIdle()
    assert.deepEqual(
      (await bench.rows()).map((row) => [row.state, row.fence]),
      [['running', 7]],
    )
  })

  it('a job that runs longer than its kind allows is aborted and tried again', async () => {
    const bench = jobBench(await open())
    const kind = jobKind<null>('slow', { timeoutMs: 1_000 })
    bench.engine.register(
      kind,
      (_job, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    await bench.add({ kind, payload: null })
    await bench.engine.tick()
    await bench.clock.advance(1_001)
    await bench.engine.whenIdle()
    const [row] = await bench.rows()
    assert.deepEqual([row?.state, row?.last_error], ['waiting', 'TimedOut: The job ran longer than 1000 ms'])
  })

  it('drains: claims no more, lets handlers finish, aborts the slow, gives back the deaf', async () => {
    const bench = jobBench(await open())
    const kind = jobKind<string>('drained', { concurrency: 3 })
    const steered = new Steered<string>()
    bench.engine.register(kind, steered.handler)
    for (const payload of ['quick', 'polite', 'deaf', 'too late']) await bench.add({ kind, payload })
    await bench.engine.tick()
    const [quick, polite, deaf] = [await steered.next(), await steered.next(), await steered.next()]
    let stopped = false
    const stop = bench.engine.stop({ drainMs: 10_000 }).then(() => {
      stopped = true
    })
    quick.finish()
    await bench.clock.advance(7_000)
    assert.deepEqual([polite.context.signal.aborted, stopped], [false, false])
    polite.context.signal.addEventListener('abort', () => polite.fail(new Error('interrupted')))
    await bench.clock.advance(1_500)
    assert.ok(deaf.context.signal.reason instanceof ShuttingDown)
    await bench.clock.advance(600)
    await stop
    const rows = await bench.rows()
    assert.deepEqual(
      rows.map((row) => [JSON.parse(row.payload), row.state, row.attempt]),
      [
        ['polite', 'waiting', 0],
        ['deaf', 'waiting', 0],
        ['too late', 'waiting', 0],
      ],
    )
    // What the deaf one does from now on counts for nothing.
    deaf.finish()
    await bench.engine.whenIdle()
    assert.equal((await bench.rows()).length, 3)
  })

  it('claims nothing when it is told to stop while it looks for work', async () => {
    const db = await open()
    const bench = jobBench(db)
    const kind = jobKind<number>('late')
    const seen = recording(kind, bench.engine)
    await bench.turn()
    await bench.add({ kind, payload: 1 })
    const before = await bench.rows()
    const looking = bench.engine.tick()
    const stop = bench.engine.stop({ drainMs: 1_000 })
    await Promise.all([looking, stop])
    assert.deepEqual([await bench.rows(), seen], [before, []])
  })

  it('does not begin with a job when the answer to its claim came so late that others may have it', async () => {
    const clock = new FakeClock()
    const db = await open()
    const late: Database = Object.create(db, {
      run: { value: db.run.bind(db) },
      write: {
        value: async (...args: Parameters<Database['write']>) => {
          const answer = await db.write(...args)
          await clock.advance(29_000)
          return answer
        },
      },
    })
    const kind = jobKind<number>('late')
    const [slow, other] = [jobBench(late, { clock }), jobBench(db, { clock })]
    const [seenLate, seen] = [recording(kind, slow.engine), recording(kind, other.engine)]
    await other.add({ kind, payload: 1 })
    await slow.turn()
    assert.deepEqual(seenLate, [])
    await other.turn()
    assert.equal(seen.length, 1)
  })

  it('stops within its time even when storage does not answer any more', async () => {
    const db = await open()
    const storage = interruptible(db)
    const bench = jobBench(storage.db)
    const kind = jobKind<null>('stranded')
    const steered = new Steered<null>()
    bench.engine.register(kind, steered.handler)
    await bench.add({ kind, payload: null })
    await bench.engine.tick()
    await steered.next()
    storage.down = true
    const stop = bench.engine.stop({ drainMs: 1_000 })
    for (let step = 0; step < 10; step++) await bench.clock.advance(100)
    await stop
  })

  it('goes on by itself when storage was away: nothing lost, nothing thrown', async () => {
    const db = await open()
    const storage = interruptible(db)
    const clock = new SystemClock()
    const engine = new JobEngine({ db: storage.db, clock, log: silentLogger(), pollMs: 20 })
    const kind = jobKind<number>('survivor')
    const steered = new Steered<number>()
    engine.register(kind, steered.handler)
    await db.write((tx) => engine.enqueue(tx, { kind, payload: 1 }))
    storage.down = true
    engine.start()
    await storage.refused(3)
    storage.down = false
    const first = await steered.next()
    storage.down = true
    first.finish()
    await storage.refused(3)
    storage.down = false
    await engine.whenIdle()
    await db.write((tx) => engine.enqueue(tx, { kind, payload: 2 }))
    const second = await steered.next()
    second.finish()
    await engine.stop()
    assert.equal(second.job.payload, 2)
    assert.deepEqual(await db.query.selectFrom('jobs').selectAll().execute(), [])
  })

  it('as a worker under a supervisor it gives its jobs back within the time that is left', async () => {
    const db = await open()
    const bench = jobBench(db)
    const kind = jobKind<null>('supervised')
    const steered = new Steered<null>()
    bench.engine.register(kind, steered.handler)
    await bench.add({ kind, payload: null })
    const supervisor = new Supervisor({ clock: bench.clock, log: silentLogger() })
    supervisor.start([bench.engine])
    await steered.next()
    const stop = supervisor.stop(2_000)
    for (const ms of [0, 1_600]) await bench.clock.advance(ms)
    await bench.clock.advance(200)
    await stop
    assert.equal(supervisor.health()[0]?.state, 'stopped')
    assert.deepEqual(
      (await bench.rows()).map((row) => row.state),
      ['waiting'],
    )
  })

  it('an engine that is alone on its database takes back at once what a killed process left running', async () => {
    const db = await open()
    const kind = jobKind<null>('orphan')
    const dead = jobBench(db)
    dead.engine.register(kind, () => new Promise(() => {}))
    await dead.add({ kind, payload: null })
    await dead.engine.tick()
    const bench = jobBench(db, { alone: true })
    const seen = recording(kind, bench.engine)
    await bench.turn()
    assert.deepEqual(
      seen.map((job) => job.attempt),
      [2],
    )
  })
})

/** The same database with a plug to pull. */
function interruptible(db: Database) {
  const state = { down: false, count: 0, waiters: [] as { count: number; resolve(): void }[] }
  const guard = <T>(work: () => Promise<T>): Promise<T> => {
    if (!state.down) return work()
    state.count++
    for (const waiter of state.waiters) if (--waiter.count === 0) waiter.resolve()
    return Promise.reject(new AppError('unavailable', 'Storage does not answer right now'))
  }
  const guarded: Database = Object.create(db, {
    run: { value: (...args: Parameters<Database['run']>) => guard(() => db.run(...args)) },
    write: { value: (...args: Parameters<Database['write']>) => guard(() => db.write(...args)) },
    subscribe: { value: (...args: Parameters<Database['subscribe']>) => db.subscribe(...args) },
  })
  return {
    db: guarded,
    get down() {
      return state.down
    },
    set down(down: boolean) {
      state.down = down
    },
    /** Resolves after that many more refusals. */
    refused: (count: number) => new Promise<void>((resolve) => state.waiters.push({ count, resolve })),
  }
}
