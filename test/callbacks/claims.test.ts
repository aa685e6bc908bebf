import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Claims, LEASE_MARGIN_MS } from '../../src/callbacks/deliver/claims.ts'
import type { Lane } from '../../src/callbacks/deliver/lane.ts'
import { eachDatabase } from '../support/each-database.ts'
import { DeliveryWorld } from './delivery-world.ts'

/** A run that one of two processes has taken. */
async function taken(world: DeliveryWorld) {
  const { db, clock } = world.namespace
  await world.start('c', 'http://127.0.0.1:9')
  const { destinationId, runNumber } = await world.find('c')
  const lane = (await world.runtime.lanes.load(destinationId)) as Lane
  const [one, other] = ['one', 'other'].map((owner) => new Claims({ db, clock, owner })) as [Claims, Claims]
  const run = await one.takeOne(lane, runNumber)
  assert.ok(run)
  return { clock, lane, one, other, run }
}

eachDatabase('claims', ({ open, engine }) => {
  const skip = engine === 'sqlite' && 'there is no other process'

  test('a run whose result cannot be stored for a while is attempted by no other process meanwhile, but afterwards', {
    skip,
  }, async () => {
    await using world = await DeliveryWorld.open(await open())
    const { clock, lane, one, other, run } = await taken(world)
    const { runNumber } = run
    await one.keep(lane, runNumber, 60_000)
    // It is stored once more as long as a request may take after the pause.
    await clock.advance(60_000 + lane.requestTimeoutMs)
    assert.deepEqual(await other.take(lane, 10), [])
    await clock.advance(LEASE_MARGIN_MS + 1)
    assert.deepEqual(
      (await other.take(lane, 10)).map((run) => run.runNumber),
      [runNumber],
    )
  })

  test('what lay in the queue for too long to be attempted is given back, and may be taken again at once', {
    skip,
  }, async () => {
    await using world = await DeliveryWorld.open(await open())
    const { clock, lane, one, other, run } = await taken(world)
    lane.add(run)
    assert.equal(one.giveBackLapsed(lane), null)
    await clock.advance(LEASE_MARGIN_MS)
    await one.giveBackLapsed(lane)
    assert.deepEqual([lane.known.has(run.runNumber), lane.queuedNumbers()], [false, []])
    assert.deepEqual(
      (await other.take(lane, 10)).map(({ runNumber }) => runNumber),
      [run.runNumber],
    )
  })
})
