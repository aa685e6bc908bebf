import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeDue } from '../../src/callbacks/deliver/store-due.ts'
import { retryRun } from '../../src/callbacks/run/retry-run.ts'
import { MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import { eachDatabase } from '../support/each-database.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { settlementOf, store } from './store-world.ts'

// On SQLite there is one process, and nobody to take a run from.
eachDatabase('a first attempt that was put off', ({ open, engine }) => {
  const skip = engine === 'sqlite'
  const setUp = async () => {
    const world = await DeliveryWorld.open(await open())
    const { db, namespace, runtime } = world
    await world.start('c', 'http://127.0.0.1:9', { delaySeconds: 1 })
    const run = await world.find('c')
    const dueAt = run.record.nextAttemptAt as number
    return {
      world,
      run,
      dueAt,
      /** By another node, whose clock is ahead. */
      takeUntil: (leaseUntil: number) =>
        takeDue(db, { ...run, now: dueAt, leaseUntil, owner: 'other', limit: 1, exclude: [] }),
      async retry() {
        const active = await namespace.policies.find('default')
        assert.ok(active)
        const { clock } = namespace
        await retryRun({ db, clock, ...runtime }, active, { namespace: 'default', callbackId: 'c', runId: null })
        return (await world.find('c')).record
      },
    }
  }

  test('and that another node has begun is not taken from it by a retry: what comes of it counts', {
    skip,
  }, async () => {
    const { world, run, dueAt, takeUntil, retry } = await setUp()
    await using _ = world
    assert.equal((await takeUntil(dueAt + 20 * MICROS_PER_SECOND)).length, 1)
    assert.equal((await retry()).transitionCount, 1)
    const won = await store(world.db, [
      settlementOf(run, { kind: 'attempt_succeeded' }, dueAt, { leaseOwner: 'other' }),
    ])
    assert.deepEqual([...won], [run.runNumber])
  })

  test('is made now when nobody has begun it, or who did is gone', { skip }, async () => {
    const { world, dueAt, takeUntil, retry } = await setUp()
    await using _ = world
    assert.equal((await takeUntil(dueAt - MICROS_PER_SECOND)).length, 1)
    const { transitionCount, nextAttemptAt } = await retry()
    assert.deepEqual([transitionCount, nextAttemptAt], [2, null])
  })
})
