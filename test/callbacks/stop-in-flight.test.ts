import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../src/platform/logging/logger.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { Supervisor } from '../../src/platform/supervisor/supervisor.ts'
import { eachDatabase } from '../support/each-database.ts'
import { socketClosed, startReceiver } from '../support/receivers/receiver.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { DeliveryWorld } from './delivery-world.ts'

const GRACE_MS = 1_000
const SHORT_GRACE_MS = 200
// Of that time the requests in flight have so much.
const FINISH = 0.9
// What is waited for a body once the head is known; longer than the short time.
const BODY_MS = 250

eachDatabase('a request whose answer is known but not read when the server stops', (context) => {
  test('has succeeded, and nobody sends it again', async () => {
    // All of the head, and never the body.
    await using receiver = await startReceiver({
      answer: (_request, response) => {
        response.writeHead(200, { 'content-length': '10' })
        response.flushHeaders()
        return undefined
      },
    })
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    const { clock } = world.namespace
    const log = silentLogger()
    const supervisor = new Supervisor({ clock, log })
    supervisor.start([world.runtime.dispatcher])
    await world.start('c', receiver.url)
    await receiver.requests.next()
    await clock.untilSet(BODY_MS)
    const stopped = supervisor.stop(SHORT_GRACE_MS)
    await clock.untilSet(SHORT_GRACE_MS * FINISH)
    await clock.advance(SHORT_GRACE_MS * FINISH)
    await stopped
    assert.equal((await world.find('c')).record.state, 'SUCCEEDED')
  })
})

eachDatabase('a request that is in flight when the server stops, for longer than that may take', (context) => {
  test('is broken off without complaint, and another process sends it at once', async () => {
    await using receiver = await startReceiver({ answer: null })
    const db = await context.open()
    await using other = await DeliveryWorld.open(db)
    const { clock } = other.namespace
    const lines: string[] = []
    const log = createLogger({ level: 'warn', format: 'json', destination: { write: (line) => void lines.push(line) } })
    const own = context.engine === 'sqlite' ? db : await context.openAgain(db)
    const stopping = await DeliveryWorld.over({ ...other.namespace, db: own }, { log })
    const supervisor = new Supervisor({ clock, log })
    supervisor.start([stopping.runtime.dispatcher])
    await stopping.start('c', receiver.url)
    const first = await receiver.requests.next()
    const [socket] = receiver.open

    const stopped = supervisor.stop(GRACE_MS)
    await clock.untilSet(GRACE_MS * FINISH)
    await clock.advance(GRACE_MS * FINISH)
    await stopped
    await stopping.runtime[Symbol.asyncDispose]()
    await socketClosed(socket as NonNullable<typeof socket>)
    assert.deepEqual(lines, [])
    const { due_at, lease_owner } = await db.query
      .selectFrom('callback_runs')
      .select(['due_at', 'lease_owner'])
      .executeTakeFirstOrThrow()
    assert.equal(lease_owner, null)
    assert.ok(due_at !== null && due_at <= clock.now())

    other.run()
    const second = await receiver.requests.next()
    assert.equal(second.headers['webhook-id'], first.headers['webhook-id'])
    assert.equal(second.headers['webhook-attempt'], '1')
  })
})

eachDatabase('a server that stops while it still looks for what is due', (context) => {
  test('sends nothing that comes meanwhile', async () => {
    await using receiver = await startReceiver()
    const db = await context.open()
    await using other = await DeliveryWorld.open(db)
    const looked = Promise.withResolvers<void>()
    const stopping = await DeliveryWorld.over({ ...other.namespace, db: firstWriteAfter(db, looked.promise) })
    stopping.run()
    const stopped = stopping.stop()
    await stopping.start('late', receiver.url)
    looked.resolve()
    await stopped
    assert.equal((await other.find('late')).record.attempt, 0)
    assert.equal(receiver.requests.all.length, 0)
  })
})

/** The same database, whose first change is not begun before. */
function firstWriteAfter(db: Database, before: Promise<void>): Database {
  let isFirst = true
  const write: Database['write'] = async (work, options) => {
    const mayBegin = isFirst ? before : null
    isFirst = false
    await mayBegin
    return db.write(work, options)
  }
  return new Proxy(db, {
    get(_db, name) {
      const member = name === 'write' ? write : Reflect.get(db, name, db)
      return typeof member === 'function' ? member.bind(db) : member
    },
  })
}
