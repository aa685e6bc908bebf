import assert from 'node:assert/strict'
import { test } from 'node:test'
import { destinationId } from '../../src/callbacks/destination/store-destinations.ts'
import type { Lane } from '../../src/callbacks/run/lane.ts'
import { Lanes } from '../../src/callbacks/run/lanes.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { namespaceWorld } from './namespace-world.ts'

async function open(db: Database) {
  const { clock, policies } = await namespaceWorld(db)
  const lanes = new Lanes({ db, clock, namespaces: policies, most: { idle: 10, unwell: 20 } })
  const namespace = await policies.find('default')
  assert.ok(namespace)
  const laneOf = async (n: number) => {
    const id = await db.write((tx) => destinationId(tx, namespace.id, `https://d${n}.example.org`))
    const lane = await lanes.load(id)
    assert.ok(lane)
    return lane
  }
  const close = () => {
    lanes.close()
    policies.close()
  }
  return { lanes, laneOf, close }
}

function fail(lane: Lane): void {
  const pass = lane.breaker.admit()
  assert.ok(pass)
  lane.breaker.settle(pass, true)
}

eachDatabase('the lanes of a process', (context) => {
  test('of destinations that failed are forgotten when there are too many, those that failed long ago first', async (t) => {
    const { lanes, laneOf, close } = await open(await context.open())
    t.after(close)
    for (let n = 0; n < 60; n++) {
      const lane = await laneOf(n)
      fail(lane)
      lanes.rest(lane)
    }
    assert.equal(lanes.all().length, 20)
    assert.equal((await laneOf(59)).breaker.snapshot().consecutiveFailures, 1)
    assert.equal((await laneOf(0)).breaker.snapshot().consecutiveFailures, 0)
  })

  test('keep what a breaker knows while many destinations come and go that are well', async (t) => {
    const { lanes, laneOf, close } = await open(await context.open())
    t.after(close)
    const failing = await laneOf(0)
    for (let n = 0; n < 6; n++) fail(failing)
    lanes.rest(failing)
    for (let n = 1; n < 60; n++) lanes.rest(await laneOf(n))
    assert.equal(lanes.all().length, 11)
    assert.equal(await laneOf(0), failing)
    assert.equal(failing.breaker.state, 'open')
    // Well again, it is one of those.
    failing.breaker.reset()
    lanes.rest(failing)
    for (let n = 60; n < 80; n++) lanes.rest(await laneOf(n))
    assert.equal(lanes.find(failing.destinationId), undefined)
  })

  test('that have something to do are never forgotten', async (t) => {
    const { lanes, laneOf, close } = await open(await context.open())
    t.after(close)
    const busy = await laneOf(0)
    lanes.rest(busy)
    busy.hasMore = true
    for (let n = 1; n < 60; n++) lanes.rest(await laneOf(n))
    assert.equal(lanes.find(busy.destinationId), busy)
  })
})
