import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Lane } from '../../src/callbacks/deliver/lane.ts'
import { Lanes } from '../../src/callbacks/deliver/lanes.ts'
import {
  changeDestination,
  destinationId,
  findDestination,
} from '../../src/callbacks/destination/store-destinations.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { namespaceWorld } from './namespace-world.ts'

/** `read`: what the lanes read from, `db` as a rule. */
async function open(db: Database, read = db, log = silentLogger()) {
  const { clock, policies } = await namespaceWorld(db)
  const most = { idle: 10, unwell: 20 }
  const lanes = new Lanes({ db: read, clock, log, namespaces: policies, most })
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
  const pause = ({ destinationId }: Lane, isPaused: boolean) =>
    db.write((tx) => changeDestination(tx, destinationId, { isPaused }))
  return { lanes, laneOf, close, clock, pause }
}

/** The same database, which keeps the answer of a read while `hold` is set: the read is made, and `hold` waited for. */
function slowly(db: Database, held: { hold: Promise<void> | null; onRead: () => void }): Database {
  const run: Database['run'] = async (statement, input) => {
    const { hold } = held
    const rows = await db.run(statement, input)
    if (hold !== null) held.onRead()
    await hold
    return rows
  }
  return new Proxy(db, {
    get(_db, name) {
      const member = name === 'run' ? run : Reflect.get(db, name, db)
      return typeof member === 'function' ? member.bind(db) : member
    },
  })
}

function rename(db: Database, from: string, to: string): Promise<unknown> {
  return db.write((tx) => sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(tx.query))
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

  test('that are handed out are not forgotten before there is something to do', async (t) => {
    const { lanes, laneOf, close } = await open(await context.open())
    t.after(close)
    const others = await Promise.all(Array.from({ length: 20 }, (_, n) => laneOf(n + 1)))
    const lane = await laneOf(0)
    lanes.rest(lane)
    const loading = lanes.load(lane.destinationId)
    for (const other of others) lanes.rest(other)
    assert.equal(await loading, lane)
    assert.equal(lanes.find(lane.destinationId), lane)
  })

  test('take over a pause that could not be read when it was announced, and tell that once', async (t) => {
    const db = await context.open()
    const told: string[] = []
    const destination = { write: (line: string) => void told.push(JSON.parse(line).level) }
    const log = createLogger({ level: 'info', format: 'json', destination })
    const { lanes, laneOf, close, clock, pause } = await open(db, db, log)
    t.after(close)
    const lane = await laneOf(0)
    await pause(lane, true)
    await rename(db, 'callback_destinations', 'moved')
    await lanes.refresh(lane.destinationId, 'changed')
    const readAgain = async () => {
      const read = new Promise<Lane>((resolve) => {
        lanes.onChange = resolve
      })
      await clock.advance(1_500)
      await read
      await nextTurn()
    }
    await readAgain()
    await readAgain()
    assert.equal(lane.blockedReason(), null)
    await rename(db, 'moved', 'callback_destinations')
    await readAgain()
    assert.match(lane.blockedReason() ?? '', /is paused/)
    assert.deepEqual(told, ['error', 'info'])
  })

  test('show the last of two changes, also when the answer about the first comes last', async (t) => {
    const db = await context.open()
    const held = { hold: null as Promise<void> | null, onRead: () => {} }
    const { lanes, laneOf, close, pause } = await open(db, slowly(db, held))
    t.after(close)
    const lane = await laneOf(0)
    await pause(lane, true)
    const { promise: hold, resolve: release } = Promise.withResolvers<void>()
    const read = new Promise<void>((resolve) => Object.assign(held, { hold, onRead: resolve }))
    const first = lanes.refresh(lane.destinationId, 'changed')
    await read
    held.hold = null
    await pause(lane, false)
    const second = lanes.refresh(lane.destinationId, 'changed')
    // As long as its own read would take.
    await findDestination(db, lane.destinationId)
    release()
    await Promise.all([first, second])
    assert.equal(lane.blockedReason(), null)
  })
})
