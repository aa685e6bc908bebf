import assert from 'node:assert/strict'
import { it } from 'node:test'
import { PermanentFailure } from '../../src/platform/jobs/failures.ts'
import { jobKind } from '../../src/platform/jobs/job-kind.ts'
import { discardJob, listJobs, requeueJob, requeueKind } from '../../src/platform/jobs/store-dead-letters.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { jobBench, Steered } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'

const KIND = jobKind<number>('doomed')
const OTHER = jobKind<number>('other')

/** A bench whose handlers fail for good until `mend`ed. */
function doomedBench(db: Database) {
  const bench = jobBench(db)
  const state = { broken: true, seen: [] as number[] }
  for (const kind of [KIND, OTHER]) {
    bench.engine.register(kind, async (job) => {
      if (state.broken) throw new PermanentFailure('broken')
      state.seen.push(job.payload)
    })
  }
  return { ...bench, state }
}

eachDatabase('dead letters', ({ open }) => {
  it('are kept until an operator requeues them, which gives them all their tries', async () => {
    const db = await open()
    const bench = doomedBench(db)
    const { id } = await bench.add({ kind: KIND, payload: 1 })
    await bench.turn()
    assert.deepEqual(
      (await listJobs(db, { state: 'dead' })).map((row) => row.id),
      [id],
    )
    bench.state.broken = false
    const requeued = await db.write((tx) => requeueJob(tx, id, bench.clock.now()))
    assert.equal(requeued, 'requeued')
    assert.deepEqual(
      (await bench.rows()).map((row) => [row.id, row.state, row.attempt]),
      [[id, 'waiting', 0]],
    )
    assert.equal(await db.write((tx) => requeueJob(tx, id, bench.clock.now())), 'not_dead')
    await bench.turn()
    assert.deepEqual(bench.state.seen, [1])
    assert.equal((await bench.rows()).length, 0)
  })

  it('join a waiting job of their key, whose payload is the newer one', async () => {
    const db = await open()
    const bench = doomedBench(db)
    const { id } = await bench.add({ kind: KIND, key: 'k', payload: 1 })
    await bench.turn()
    const newer = await bench.add({ kind: KIND, key: 'k', payload: 2, dueAt: bench.later(60_000) })
    assert.notEqual(newer.id, id)
    assert.equal(await db.write((tx) => requeueJob(tx, id, bench.clock.now())), 'joined')
    bench.state.broken = false
    await bench.turn()
    assert.deepEqual(bench.state.seen, [2])
  })

  it('are requeued by kind, all of them and no others', async () => {
    const db = await open()
    const bench = doomedBench(db)
    await db.write(async (tx) => {
      for (let n = 0; n < 250; n++) await bench.engine.enqueue(tx, { kind: KIND, payload: n })
      await bench.engine.enqueue(tx, { kind: OTHER, payload: 1 })
    })
    while ((await bench.rows()).some((row) => row.state === 'waiting')) await bench.turn()
    assert.equal(await requeueKind(db, 'doomed', () => bench.clock.now()), 250)
    const states = new Set((await bench.rows()).map((row) => `${row.kind} ${row.state}`))
    assert.deepEqual([...states].sort(), ['doomed waiting', 'other dead'])
    assert.equal(await requeueKind(db, 'no such kind', () => bench.clock.now()), 0)
  })

  it('can be discarded, as waiting jobs can; a running one cannot', async () => {
    const db = await open()
    const bench = doomedBench(db)
    const steered = new Steered<number>()
    const running = jobKind<number>('running')
    bench.engine.register(running, steered.handler)
    const dead = await bench.add({ kind: KIND, payload: 1 })
    const busy = await bench.add({ kind: running, payload: 1 })
    await bench.engine.tick()
    const run = await steered.next()
    const waiting = await bench.add({ kind: KIND, payload: 2, dueAt: bench.later(60_000) })
    while ((await listJobs(db, { state: 'dead' })).length === 0) await new Promise((next) => setImmediate(next))
    const discard = (id: typeof dead.id) => db.write((tx) => discardJob(tx, id))
    assert.deepEqual([await discard(dead.id), await discard(waiting.id), await discard(busy.id)], [true, true, false])
    assert.equal(await discard(dead.id), false)
    run.finish()
    await bench.engine.whenIdle()
    assert.equal((await bench.rows()).length, 0)
  })

  it('are listed in pages, by state and kind', async () => {
    const db = await open()
    const bench = doomedBench(db)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await bench.add({ kind: n % 2 === 0 ? KIND : OTHER, payload: n })).id)
    const first = await listJobs(db, { limit: 2 })
    const rest = await listJobs(db, { after: first[1]?.id })
    assert.deepEqual(
      [...first, ...rest].map((row) => row.id),
      ids,
    )
    assert.equal((await listJobs(db, { kind: 'other' })).length, 2)
    assert.equal((await listJobs(db, { kind: 'other', state: 'dead' })).length, 0)
  })

  it('show in the statistics by kind, with the first due time', async () => {
    const db = await open()
    const bench = doomedBench(db)
    assert.deepEqual(await bench.engine.statistics(), [])
    const steered = new Steered<null>()
    const running = jobKind<null>('running')
    bench.engine.register(running, steered.handler)
    await bench.add({ kind: KIND, payload: 1 })
    await bench.add({ kind: OTHER, payload: 1 })
    await bench.add({ kind: running, payload: null })
    await bench.engine.tick()
    const run = await steered.next()
    while ((await listJobs(db, { state: 'dead' })).length < 2) await new Promise((next) => setImmediate(next))
    const dueAt = bench.later(60_000)
    await bench.add({ kind: KIND, payload: 3, dueAt: dueAt + 1 })
    await bench.add({ kind: KIND, payload: 2, dueAt })
    assert.deepEqual(await bench.engine.statistics(), [
      { kind: 'doomed', waiting: 2, running: 0, dead: 1, firstDueAt: dueAt },
      { kind: 'other', waiting: 0, running: 0, dead: 1, firstDueAt: null },
      { kind: 'running', waiting: 0, running: 1, dead: 0, firstDueAt: null },
    ])
    run.finish()
    await bench.engine.whenIdle()
  })
})
