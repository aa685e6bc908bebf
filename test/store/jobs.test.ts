import assert from 'node:assert/strict'
import { it } from 'node:test'
import { MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import { LeaseLost, PermanentFailure, RetryLater } from '../../src/platform/jobs/failures.ts'
import { jobKind } from '../../src/platform/jobs/job-kind.ts'
import { jobBench, recording, Steered } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'

const PLAIN = jobKind<number>('plain', { backoff: { jitter: 0 } })
const LATEST = jobKind<string>('latest', { join: 'latest' })
const KEEP = jobKind<string>('keep', { join: 'keep' })

eachDatabase('durable jobs', ({ open }) => {
  it('a job exists exactly when the transaction that asked for it was committed', async () => {
    const bench = jobBench(await open())
    const seen = recording(PLAIN, bench.engine)
    const db = await open()
    const other = jobBench(db)
    await assert.rejects(
      db.write(async (tx) => {
        await other.engine.enqueue(tx, { kind: PLAIN, payload: 1 })
        throw new Error('changed my mind')
      }),
    )
    assert.equal((await other.rows()).length, 0)
    await bench.add({ kind: PLAIN, payload: 2 })
    await bench.turn()
    assert.deepEqual(
      seen.map((job) => job.payload),
      [2],
    )
    assert.equal((await bench.rows()).length, 0)
  })

  it('runs jobs in the order in which they are due, none before its time', async () => {
    const bench = jobBench(await open())
    const kind = jobKind<string>('ordered', { concurrency: 1 })
    const seen = recording(kind, bench.engine)
    await bench.add({ kind, payload: 'third', dueAt: bench.later(60_000) })
    await bench.add({ kind, payload: 'second', dueAt: bench.later(30_000) })
    await bench.add({ kind, payload: 'first' })
    for (const seconds of [0, 29, 2, 0, 30, 0]) {
      await bench.clock.advance(seconds * 1_000)
      await bench.turn()
    }
    assert.deepEqual(
      seen.map((job) => job.payload),
      ['first', 'second', 'third'],
    )
  })

  it('what waits since before the clock was set back waits as long as it was to, from the next start on', async () => {
    const db = await open()
    const ahead = jobBench(db, { clock: new FakeClock('2031-01-01T00:00:00Z') })
    ahead.engine.register(PLAIN, async () => {
      throw new RetryLater('busy', 5_000)
    })
    await ahead.add({ kind: PLAIN, payload: 1 })
    await ahead.turn()
    await ahead.add({ kind: PLAIN, payload: 2 })
    await ahead.add({ kind: PLAIN, payload: 3, dueAt: ahead.later(60_000) })
    const bench = jobBench(db)
    const seen = recording(PLAIN, bench.engine)
    for (const [passedMs, expected] of [
      [0, [2]],
      [4_900, [2]],
      [200, [2, 1]],
      [54_000, [2, 1]],
      [1_000, [2, 1, 3]],
    ] as const) {
      await bench.clock.advance(passedMs)
      await bench.turn()
      assert.deepEqual(
        seen.map((job) => job.payload),
        expected,
      )
    }
  })

  it('tries a failing job again with growing delays, then keeps it as dead with its last error', async () => {
    const bench = jobBench(await open())
    const kind = jobKind<null>('failing', { maxAttempts: 3, backoff: { initialMs: 1_000, jitter: 0 } })
    let runs = 0
    bench.engine.register(kind, async () => {
      throw new Error(`no ${++runs}`)
    })
    await bench.add({ kind, payload: null })
    for (const [waitMs, expected] of [
      [0, 1],
      [990, 1],
      [20, 2],
      [1_900, 2],
      [110, 3],
      [60_000, 3],
    ] as const) {
      await bench.clock.advance(waitMs)
      await bench.turn()
      assert.equal(runs, expected)
    }
    const [dead] = await bench.rows()
    assert.deepEqual([dead?.state, dead?.attempt, dead?.last_error], ['dead', 3, 'Error: no 3'])
  })

  it('a permanent failure is dead at once; a handler may choose the time of the next try', async () => {
    const bench = jobBench(await open())
    bench.engine.register(PLAIN, async (job) => {
      if (job.payload === 1) throw new PermanentFailure('never')
      if (job.attempt === 1) throw new RetryLater('busy', 5_000)
    })
    await bench.add({ kind: PLAIN, payload: 1 })
    await bench.add({ kind: PLAIN, payload: 2 })
    await bench.turn()
    assert.deepEqual(
      (await bench.rows()).map((row) => row.state),
      ['dead', 'waiting'],
    )
    await bench.clock.advance(4_900)
    await bench.turn()
    assert.equal((await bench.rows()).length, 2)
    await bench.clock.advance(200)
    await bench.turn()
    assert.deepEqual(
      (await bench.rows()).map((row) => row.state),
      ['dead'],
    )
  })

  it('a handler that asks for it runs again with a new payload and all its tries', async () => {
    const bench = jobBench(await open())
    const seen: unknown[] = []
    bench.engine.register(PLAIN, async (job) => {
      seen.push([job.payload, job.attempt])
      return job.payload < 3 ? { againAt: bench.later(1_000), payload: job.payload + 1 } : undefined
    })
    const { id } = await bench.add({ kind: PLAIN, payload: 1 })
    await bench.turn()
    assert.equal((await bench.rows())[0]?.id, id)
    for (let turn = 0; turn < 3; turn++) {
      await bench.clock.advance(1_100)
      await bench.turn()
    }
    assert.deepEqual(seen, [
      [1, 1],
      [2, 1],
      [3, 1],
    ])
    assert.equal((await bench.rows()).length, 0)
  })

  it('joins a waiting job of the same key: one job, the earlier time, the payload as its kind says', async () => {
    const bench = jobBench(await open())
    const soon = bench.later(10_000)
    const late = bench.later(20_000)
    for (const kind of [LATEST, KEEP]) {
      const first = await bench.add({ kind, key: 'k', payload: 'a', dueAt: soon })
      const second = await bench.add({ kind, key: 'k', payload: 'b', dueAt: late })
      assert.deepEqual([first.joined, second], [false, { id: first.id, joined: true }])
      const row = (await bench.rows()).find((job) => job.kind === kind.name)
      assert.deepEqual([row?.payload, row?.due_at], [kind === LATEST ? '"b"' : '"a"', soon])
      await bench.add({ kind, key: 'k', payload: 'c', dueAt: soon - 5 })
      assert.equal((await bench.rows()).find((job) => job.kind === kind.name)?.due_at, soon - 5)
    }
    await bench.add({ kind: LATEST, key: 'another', payload: 'd' })
    await bench.add({ kind: LATEST, payload: 'no key' })
    await bench.add({ kind: LATEST, payload: 'no key' })
    assert.equal((await bench.rows()).length, 5)
  })

  it('asking anew for a job that failed before gives it all its tries, unless its kind keeps the old request', async () => {
    const bench = jobBench(await open())
    for (const kind of [LATEST, KEEP]) {
      bench.engine.register(kind, async () => {
        throw new Error('no')
      })
      await bench.add({ kind, key: 'k', payload: 'a' })
    }
    await bench.turn()
    for (const kind of [LATEST, KEEP]) await bench.add({ kind, key: 'k', payload: 'b', dueAt: bench.later(60_000) })
    const state = Object.fromEntries(
      (await bench.rows()).map((row) => [row.kind, [row.payload, row.attempt, row.last_error]]),
    )
    assert.deepEqual(state, { latest: ['"b"', 0, null], keep: ['"a"', 1, 'Error: no'] })
  })

  it('a key that is running gets one waiting job behind it, which starts only when the first has ended', async () => {
    const bench = jobBench(await open())
    const steered = new Steered<string>()
    bench.engine.register(LATEST, steered.handler)
    await bench.add({ kind: LATEST, key: 'k', payload: 'a' })
    await bench.engine.tick()
    const first = await steered.next()
    const behind = await bench.add({ kind: LATEST, key: 'k', payload: 'b' })
    assert.equal(behind.joined, false)
    assert.equal((await bench.add({ kind: LATEST, key: 'k', payload: 'c' })).id, behind.id)
    await bench.engine.tick()
    assert.equal(steered.begun, 0)
    first.finish()
    await bench.engine.whenIdle()
    await bench.engine.tick()
    const second = await steered.next()
    assert.equal(second.job.payload, 'c')
    second.finish()
    await bench.engine.whenIdle()
    assert.equal((await bench.rows()).length, 0)
  })

  it('a failed job with a successor behind it becomes one job with it', async () => {
    for (const kind of [LATEST, KEEP]) {
      const bench = jobBench(await open())
      const steered = new Steered<string>()
      bench.engine.register(kind, steered.handler)
      await bench.add({ kind, key: 'k', payload: 'a' })
      await bench.engine.tick()
      const run = await steered.next()
      const later = bench.later(600_000)
      await bench.add({ kind, key: 'k', payload: 'b', dueAt: later })
      run.fail(new Error('no'))
      await bench.engine.whenIdle()
      const rows = await bench.rows()
      assert.equal(rows.length, 1)
      const [row] = rows
      assert.ok(row !== undefined && row.due_at < later, 'due at the earlier of both')
      assert.deepEqual([row.payload, row.attempt], kind === LATEST ? ['"b"', 0] : ['"a"', 1])
    }
  })

  it('settles in the transaction of the handler: effect and end of the job are one change', async () => {
    const db = await open()
    const bench = jobBench(db)
    const effect = jobKind<null>('effect')
    bench.engine.register(effect, async () => {})
    bench.engine.register(PLAIN, async (job, context) => {
      await db.write(async (tx) => {
        await bench.engine.enqueue(tx, { kind: effect, payload: null, dueAt: bench.later(60_000) })
        await context.complete(tx)
        if (job.attempt === 1) throw new Error('rolled back')
      })
    })
    await bench.add({ kind: PLAIN, payload: 1 })
    await bench.turn()
    assert.deepEqual(
      (await bench.rows()).map((row) => [row.kind, row.state]),
      [['plain', 'waiting']],
    )
    await bench.clock.advance(2_000)
    await bench.turn()
    assert.deepEqual(
      (await bench.rows()).map((row) => row.kind),
      ['effect'],
    )
  })

  it('takes over an expired lease, and the process that lost it can no longer settle', async () => {
    const db = await open()
    const clock = jobBench(db).clock
    const [old, young] = [jobBench(db, { clock }), jobBench(db, { clock })]
    const stuck = new Steered<number>()
    const second = new Steered<number>()
    old.engine.register(PLAIN, stuck.handler)
    young.engine.register(PLAIN, second.handler)
    await old.add({ kind: PLAIN, payload: 1 })
    await old.engine.tick()
    const lost = await stuck.next()
    // The first process hangs: nobody renews.
    await db.write((tx) =>
      tx.query
        .updateTable('jobs')
        .set({ lease_until: clock.now() })
        .execute()
        .then(() => {}),
    )
    await young.engine.tick()
    const taken = await second.next()
    assert.deepEqual([taken.job.id, taken.job.attempt], [lost.job.id, 2])
    await assert.rejects(
      db.write(async (tx) => {
        await old.engine.enqueue(tx, { kind: PLAIN, payload: 99 })
        await lost.context.complete(tx)
      }),
      LeaseLost,
    )
    lost.finish()
    await old.engine.whenIdle()
    assert.deepEqual(
      (await old.rows()).map((row) => [row.state, row.payload]),
      [['running', '1']],
    )
    taken.finish()
    await young.engine.whenIdle()
    assert.equal((await old.rows()).length, 0)
  })

  it('a job whose process dies each time it runs is dead after its last attempt', async () => {
    const db = await open()
    const kind = jobKind<null>('poison', { maxAttempts: 2 })
    let startAt = new FakeClock().now()
    await jobBench(db, { clock: new FakeClock(startAt) }).add({ kind, payload: null })
    for (let death = 0; death < 3; death++) {
      // Its clock stands still from here on, as that of a dead process does: nothing is renewed.
      const bench = jobBench(db, { clock: new FakeClock(startAt) })
      bench.engine.register(kind, () => new Promise(() => {}))
      await bench.engine.tick()
      startAt += 31 * MICROS_PER_SECOND
    }
    const [row] = await jobBench(db).rows()
    assert.equal(row?.state, 'dead')
    assert.match(row?.last_error ?? '', /died/)
  })

  it('refuses keys and payloads that not every database can hold', async () => {
    const bench = jobBench(await open())
    for (const key of ['', 'a\0b', 'x'.repeat(513), '\uD800']) {
      await assert.rejects(bench.add({ kind: PLAIN, key, payload: 1 }), { code: 'invalid_argument' })
    }
    const kind = jobKind<string>('large')
    await assert.rejects(bench.add({ kind, payload: 'x'.repeat(1_100_000) }), { code: 'too_large' })
    await assert.rejects(bench.add({ kind, payload: '', dueAt: Number.NaN }), { code: 'invalid_argument' })
    const seen = recording(kind, bench.engine)
    await bench.add({ kind, key: `'"é\u{1F600}`, payload: 'a\0b\uD800' })
    await bench.turn()
    assert.equal(seen[0]?.payload, 'a\0b\uD800')
  })
})
