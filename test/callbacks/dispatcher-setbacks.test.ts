import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Claims } from '../../src/callbacks/deliver/claims.ts'
import type { Lane } from '../../src/callbacks/deliver/lane.ts'
import type { NamespaceId } from '../../src/callbacks/namespace/namespace.ts'
import type { WaitingRun } from '../../src/callbacks/run/run.ts'
import { listAttempts } from '../../src/callbacks/run/store-attempts.ts'
import { sealCallback } from '../../src/callbacks/run/stored-callback.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import { NotBegun } from '../../src/platform/outbound/not-begun.ts'
import { OutboundClient } from '../../src/platform/outbound/outbound-client.ts'
import type { Exchanged, OutboundRequest } from '../../src/platform/outbound/outbound-request.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openOver } from '../store/storage-disk.ts'
import { eachDatabase } from '../support/each-database.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { type ReceivedRequest, startReceiver } from '../support/receivers/receiver.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { withMember } from '../support/with-member.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { refuseTransitions } from './refuse-transitions.ts'

const isClosed = ({ closedAt }: { closedAt: number | null }) => closedAt !== null

function nameDestination(db: Database, id: number, destination: string): Promise<unknown> {
  return db.write((tx) =>
    tx.query.updateTable('callback_destinations').set({ destination }).where('id', '=', id).execute(),
  )
}

function setInput(db: Database, runNumber: number, input: { callback: Uint8Array }): Promise<unknown> {
  return db.write((tx) =>
    tx.query.updateTable('callback_inputs').set(input).where('run_number', '=', runNumber).execute(),
  )
}

function moveUpTo(db: Database, runNumber: number, namespace_id: NamespaceId): Promise<unknown> {
  return db.write((tx) =>
    tx.query.updateTable('callback_runs').set({ namespace_id }).where('run_number', '<=', runNumber).execute(),
  )
}

async function lastMessage(db: Database, runNumber: number): Promise<string | undefined> {
  return (await listAttempts(db, runNumber, null, 1))[0]?.message
}

/** The same database, whose first statement that stands alone is made, but not answered. */
function losingFirstAnswer(db: Database): Database {
  let isLost = false
  const writeOne: Database['writeOne'] = async (statement, input) => {
    const rows = await db.writeOne(statement, input)
    if (isLost) return rows
    isLost = true
    throw new AppError('unavailable', 'Storage does not answer right now: repeat the request')
  }
  return withMember(db, 'writeOne', writeOne)
}

/** While it begins three seconds pass. */
class SlowStart extends OutboundClient {
  readonly #clock: FakeClock
  isReady = false

  constructor(clock: FakeClock) {
    super({ clock })
    this.#clock = clock
  }

  override preparing(): Promise<void> | null {
    return this.isReady ? null : this.#begin()
  }

  async #begin(): Promise<void> {
    await this.#clock.advance(3_000)
    this.isReady = true
  }
}

/** Gives up before its time is over, as the timers of a thread do, which count whole milliseconds. */
class EarlyEnd extends OutboundClient {
  readonly #clock: FakeClock

  constructor(clock: FakeClock) {
    super({ clock })
    this.#clock = clock
  }

  override async send({ timeoutMs }: OutboundRequest): Promise<Exchanged> {
    await this.#clock.advance(timeoutMs - 2)
    return { error: Object.assign(new Error('it took too long'), { name: 'TimeoutError' }), address: null }
  }
}

/** Gets to a request when its time is over. */
class LateStart extends OutboundClient {
  readonly #clock: FakeClock

  constructor(clock: FakeClock) {
    super({ clock })
    this.#clock = clock
  }

  override async send({ timeoutMs }: OutboundRequest): Promise<Exchanged> {
    await this.#clock.advance(timeoutMs)
    return { error: new NotBegun(new Error('its time was over before it could be sent')), address: null }
  }
}

eachDatabase('delivery after setbacks', (context) => {
  test('nothing is wrong with a server that gets to an attempt when schedule-to-close is over: the run times out', async () => {
    const { namespace } = await DeliveryWorld.open(await context.open())
    const outbound = new LateStart(namespace.clock)
    const told: string[] = []
    const log = createLogger({
      level: 'warn',
      format: 'json',
      destination: { write: (line: string) => void told.push(JSON.parse(line).msg) },
    })
    await using world = await DeliveryWorld.over(namespace, { outbound, log })
    world.run()
    await world.start('c', 'http://127.0.0.1:9', { timeoutSeconds: 0.005 })
    const { state, attempt } = await world.passUntil('c', isClosed)
    // Told after what was read here is stored.
    while (told.length === 0) await setImmediate()
    assert.deepEqual([state, attempt, told], ['TIMED_OUT', 0, ['a callback did not arrive in its time']])
    await outbound.close()
  })

  test('an attempt that is given up a moment before schedule-to-close is over has not failed: the run times out', async () => {
    const { namespace } = await DeliveryWorld.open(await context.open(), '  request_timeout: 1h\n')
    const outbound = new EarlyEnd(namespace.clock)
    await using world = await DeliveryWorld.over(namespace, { outbound })
    world.run()
    await world.start('c', 'http://127.0.0.1:9', { timeoutSeconds: 5 })
    const { destinationId } = await world.find('c')
    const isWaiting = () => world.runtime.lanes.find(destinationId)?.putOff === 1
    while (!isWaiting() && (await world.find('c')).record.attempt === 0) await setImmediate()
    await namespace.clock.advance(1_000)
    const { state, attempt } = await world.until('c', isClosed)
    assert.deepEqual([state, attempt], ['TIMED_OUT', 0])
    await outbound.close()
  })

  test('what sends may take longer to begin than an attempt may take, and none is counted for that', async () => {
    await using receiver = await startReceiver()
    const { namespace } = await DeliveryWorld.open(await context.open(), '  request_timeout: 1s\n')
    const { clock } = namespace
    const outbound = new SlowStart(clock)
    await using world = await DeliveryWorld.over(namespace, { outbound })
    world.run()
    await world.start('c', receiver.url)
    const { state, attempt } = await world.until('c', isClosed)
    assert.deepEqual([state, attempt, outbound.isReady], ['SUCCEEDED', 1, true])
    await outbound.close()
  })

  // Where there are other processes.
  if (context.engine === 'postgres') {
    test('a run that lay about until its claim was over is left to the process that has it now', async () => {
      let runId = ''
      const answer = ({ headers }: ReceivedRequest) => (headers['webhook-id'] === runId ? null : {})
      await using receiver = await startReceiver({ answer })
      const db = await context.open()
      await using slow = await DeliveryWorld.open(db)
      slow.run()
      await slow.start('before', receiver.url)
      await slow.until('before', isClosed)
      const { clock } = slow.namespace
      const lane = slow.runtime.lanes.find((await slow.find('before')).destinationId) as Lane
      lane.settings = { ...lane.settings, heldBy: 'a test' }
      runId = await slow.start('c', receiver.url)
      const claims = new Claims({ db, clock, owner: 'slow' })
      lane.add((await claims.takeOne(lane, (await slow.find('c')).runNumber)) as WaitingRun)
      await clock.advance(21_000)

      await using other = await slow.another(await context.openAgain(db))
      other.run()
      await receiver.requests.take(2)
      lane.settings = { ...lane.settings, heldBy: null }
      await slow.start('behind', receiver.url)
      await slow.until('behind', isClosed)
      const ids = receiver.requests.all.map(({ headers }) => headers['webhook-id'])
      assert.deepEqual([ids.length, ids.filter((id) => id === runId).length], [3, 1])
    })

    test('a longer request timeout holds from the next attempt on, and no other process makes it meanwhile', async () => {
      await using receiver = await startReceiver()
      const db = await context.open()
      await using slow = await DeliveryWorld.open(db, '  destination: { concurrency: 1 }')
      slow.run()
      const before = await slow.start('before', receiver.url)
      await slow.until('before', isClosed)
      const { clock, namespaces, operator } = slow.namespace
      await namespaces.update(operator, { name: 'default', set: { request_timeout: 60_000 } })
      receiver.script(null)
      const open = await slow.start('open', receiver.url)
      await receiver.requests.take(2)
      await clock.advance(59_000)

      await using other = await slow.another(await context.openAgain(db))
      other.run()
      const behind = await other.start('behind', receiver.url)
      await receiver.requests.next()
      const ids = receiver.requests.all.map(({ headers }) => headers['webhook-id'])
      assert.deepEqual(ids, [before, open, behind])
    })

    test('a claim that was made though its answer was lost keeps nobody waiting until it is over', async () => {
      await using receiver = await startReceiver()
      await using world = await DeliveryWorld.open(losingFirstAnswer(await context.open()), '  request_timeout: 1h')
      world.run()
      await world.start('c', receiver.url)
      const { clock } = world.namespace
      const from = clock.elapsedMs()
      await world.passUntil('c', isClosed)
      assert.ok(clock.elapsedMs() - from < 60_000)
      assert.equal(receiver.requests.all.length, 1)
    })
  }

  test('a destination that cannot be read stops no other one, and is delivered to once it can', async () => {
    await using broken = await startReceiver()
    await using well = await startReceiver()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    await world.start('broken', broken.url)
    await world.start('well', well.url)
    const { destinationId } = await world.find('broken')
    await nameDestination(db, destinationId, 'no address')
    await using later = await world.another(await context.openAgain(db))
    later.run()
    await later.until('well', isClosed)
    later.runtime.dispatcher.tryNow(await later.find('broken'))
    await later.start('well-2', well.url)
    await later.until('well-2', isClosed)
    await nameDestination(db, destinationId, broken.url)
    await later.passUntil('broken', isClosed)
    assert.equal(broken.requests.all.length, 1)
  })

  test('a callback that cannot be decrypted, or parsed, fails for good and says why; it says nothing about the destination', async () => {
    await using receiver = await startReceiver()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    const runs = ['changed', 'broken', 'well']
    for (const id of runs) await world.start(id, receiver.url)
    const { runId } = await world.find('broken')
    const { cipher } = world.namespace
    await setInput(db, (await world.find('changed')).runNumber, { callback: cipher.seal(Buffer.of(1), 'another run') })
    await setInput(db, (await world.find('broken')).runNumber, {
      callback: sealCallback(cipher, Buffer.of(255, 255), runId),
    })
    await using later = await world.another(await context.openAgain(db))
    later.run()
    for (const id of runs) await later.until(id, isClosed)
    const [changed, broken, well] = await Promise.all(runs.map((id) => later.find(id)))
    assert.deepEqual(
      [changed, broken, well].map((run) => run?.record.state),
      ['FAILED', 'FAILED', 'SUCCEEDED'],
    )
    const messages = await Promise.all([changed, broken].map((run) => lastMessage(db, run?.runNumber ?? 0)))
    assert.match(messages[0] ?? '', /cannot be decrypted: it was changed, or encrypted with another key/)
    assert.match(messages[1] ?? '', /cannot be parsed/)
    assert.equal(receiver.requests.all.length, 1)
  })

  test('runs that cannot be attempted are tried again after a while and hold up none behind them', async () => {
    await using receiver = await startReceiver()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    for (let n = 0; n < 300; n++) await world.start(`c-${n}`, receiver.url)
    const { namespaceId, runNumber } = await world.find('c-259')
    // Their namespace is not there.
    await moveUpTo(db, runNumber, newId<'Namespace'>())
    await using later = await world.another(await context.openAgain(db))
    later.run()
    for (let n = 260; n < 300; n++) await later.until(`c-${n}`, isClosed)
    assert.equal(receiver.requests.all.length, 40)
    await moveUpTo(db, runNumber, namespaceId)
    for (let n = 0; n < 300; n++) await later.passUntil(`c-${n}`, isClosed)
    assert.equal(receiver.requests.all.length, 300)
  })

  test('a result that the database refuses holds up no other one, and is stored once it is taken, without another attempt', async () => {
    await using receiver = await startReceiver()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    const accept = await refuseTransitions(db, `new.callback_id = 'refused'`)
    world.run()
    const runs = ['refused', ...Array.from({ length: 20 }, (_, n) => `c-${n}`)]
    await Promise.all(runs.map((id) => world.start(id, receiver.url)))
    for (const id of runs.slice(1)) await world.until(id, isClosed)
    await world.start('later', receiver.url)
    await world.until('later', isClosed)
    await accept()
    const { state } = await world.passUntil('refused', isClosed)
    assert.equal(state, 'SUCCEEDED')
    assert.equal(receiver.requests.all.length, 22)
  })

  test('a timeout that the database refuses holds up no other one, and is applied once it is taken', async () => {
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    const accept = await refuseTransitions(db, `new.callback_id = 'refused'`)
    const never = { delaySeconds: 600 }
    await world.start('refused', 'http://127.0.0.1:9', { ...never, timeoutSeconds: 5 })
    await world.start('next', 'http://127.0.0.1:9', { ...never, timeoutSeconds: 5 })
    await world.start('later', 'http://127.0.0.1:9', { ...never, timeoutSeconds: 60 })
    world.run()
    await world.passUntil('next', isClosed)
    await world.passUntil('later', isClosed)
    await accept()
    const { state } = await world.passUntil('refused', isClosed)
    assert.equal(state, 'TIMED_OUT')
  })
})

const opened: Database[] = []
after(() => Promise.all(opened.map((db) => db.close())))

test('what the disk did not confirm, though it is there, is gone on from: a result, the end of a backoff, a timeout', async () => {
  let onFail: (() => void) | null = null
  const db = await openOver(opened, async () => {
    if (onFail === null) return
    onFail()
    onFail = null
    throw Object.assign(new Error('i/o error, fsync'), { code: 'EIO' })
  })
  await migrate(db, { clock: new SystemClock(), log: silentLogger() })
  await using receiver = await startReceiver()
  await using world = await DeliveryWorld.open(db)
  const { clock } = world.namespace
  const told = async (callbackId: string) => {
    const { runNumber, record } = await world.find(callbackId)
    return { it: world.runtime.watch.changed(runNumber, record.transitionCount, 3_600_000) }
  }
  world.run()
  const resultFails = Promise.withResolvers<void>()
  receiver.script(() => {
    onFail = resultFails.resolve
    return { status: 503 }
  })
  await world.start('c', receiver.url)
  await resultFails.promise
  await clock.untilSet(250)
  const stored = await told('c')
  await clock.advance(250)
  await stored.it
  const backoffFails = Promise.withResolvers<void>()
  onFail = backoffFails.resolve
  const { state, attempt } = await world.passUntil('c', isClosed)
  await backoffFails.promise
  assert.deepEqual([state, attempt, receiver.requests.all.length], ['SUCCEEDED', 2, 2])

  await world.start('late', receiver.url, { delaySeconds: 600, timeoutSeconds: 5 })
  const timedOut = await told('late')
  const timeoutFails = Promise.withResolvers<void>()
  onFail = timeoutFails.resolve
  await clock.advance(5_010)
  await timeoutFails.promise
  await timedOut.it
  assert.equal((await world.find('late')).record.state, 'TIMED_OUT')
})
