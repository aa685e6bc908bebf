import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { takeDue } from '../../src/callbacks/deliver/store-due.ts'
import { retryRun } from '../../src/callbacks/run/retry-run.ts'
import { MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import { eachDatabase } from '../support/each-database.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { settlementOf, store } from './store-world.ts'

const LATER = '  retry: { initial_interval: 1h, max_interval: 1h }\n'
const NAMED = { callbackId: 'c', runId: null }

async function retryAt({ db, namespace: { clock, policies }, runtime }: DeliveryWorld): Promise<void> {
  const active = await policies.find('default')
  assert.ok(active)
  await retryRun({ db, clock, ...runtime }, active, NAMED)
}

// On SQLite there is one process, and nobody to take a run from.
eachDatabase('a first attempt that was put off', ({ open, engine }) => {
  const skip = engine === 'sqlite'
  const setUp = async () => {
    const world = await DeliveryWorld.open(await open())
    const { db } = world
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
        await retryAt(world)
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

eachDatabase('a retry that is asked of a process which sends nothing any more', ({ open, openAgain, engine }) => {
  test('is made by another one, and not held back until a claim of the first is over', {
    skip: engine === 'sqlite',
  }, async () => {
    await using receiver = await startReceiver()
    receiver.script({ status: 503 })
    await using sender = await DeliveryWorld.open(await open(), LATER)
    sender.run()
    await sender.start('c', receiver.url)
    await sender.until('c', ({ state }) => state === 'BACKING_OFF')
    const { destinationId } = await sender.find('c')
    // As one does that is older than the database by now: it goes on to answer.
    await using asked = await sender.another(await openAgain(sender.db))
    asked.run()
    await asked.stop()
    await retryAt(asked)
    while ((asked.runtime.lanes.find(destinationId)?.trialsSought ?? 1) > 0) await setImmediate()
    const { clock } = sender.namespace
    const askedAt = clock.now()
    await sender.passUntil('c', ({ state }) => state === 'SUCCEEDED')
    assert.ok(clock.now() - askedAt < 10 * MICROS_PER_SECOND)
  })
})
