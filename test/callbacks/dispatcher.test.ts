import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { type Lane, MOST_BYTES } from '../../src/callbacks/deliver/lane.ts'
import type { ActiveNamespace } from '../../src/callbacks/namespace/namespace-policies.ts'
import { listAttempts } from '../../src/callbacks/run/store-attempts.ts'
import { readBinary } from '../../src/callbacks/wire/binary.ts'
import { Callback_NexusSchema } from '../../src/gen/temporal/api/common/v1/message_pb.js'
import type { FailureSchema } from '../../src/gen/temporal/api/failure/v1/message_pb.js'
import { StartCallbackExecutionRequestSchema } from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { createLogger } from '../../src/platform/logging/logger.ts'
import { SharedMemory } from '../../src/platform/memory/shared-memory.ts'
import { eachDatabase } from '../support/each-database.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { anotherProcess } from './namespace-world.ts'

const isClosed = ({ closedAt }: { closedAt: number | null }) => closedAt !== null

/** How large the memory is that each of its bytes lie in. */
function buffersIn(value: unknown): number[] {
  if (value instanceof Uint8Array) return [value.buffer.byteLength]
  return value instanceof Object ? Object.values(value).flatMap(buffersIn) : []
}

eachDatabase('delivery', (context) => {
  test('a callback that was started arrives once, with its headers and body', async () => {
    await using receiver = await startReceiver()
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    const runId = await world.start('order-1', `${receiver.url}/hooks/1?a=b`, { data: '{"paid":true}' })
    const request = await receiver.requests.next()
    assert.equal(request.path, '/hooks/1?a=b')
    assert.equal(request.body.toString(), '{"paid":true}')
    assert.equal(request.headers['webhook-id'], runId)
    assert.equal(request.headers['webhook-attempt'], '1')
    assert.equal(request.headers['temporal-callback-token'], 't-1')
    const record = await world.until('order-1', isClosed)
    assert.deepEqual([record.state, record.attempt, record.transitionCount], ['SUCCEEDED', 1, 2])
    const run = await world.find('order-1')
    const [attempt] = await listAttempts(world.db, run.runNumber, null, 10)
    assert.deepEqual(
      [attempt?.attempt, attempt?.statusCode, attempt?.outcome, attempt?.address],
      [1, 200, 'success', '127.0.0.1'],
    )
    assert.equal(receiver.requests.all.length, 1)
  })

  test('what was started while nobody delivered arrives after a start', async () => {
    await using receiver = await startReceiver()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    for (let n = 0; n < 600; n++) await world.start(`c-${n}`, receiver.url)
    await using later = await world.another(await context.openAgain(db))
    later.run()
    const requests = await receiver.requests.take(600)
    assert.equal(new Set(requests.map(({ headers }) => headers['webhook-id'])).size, 600)
    for (let n = 0; n < 600; n++) await later.until(`c-${n}`, isClosed)
    assert.equal(receiver.requests.all.length, 600)
  })

  test('after a start the first ten destinations go at once, each other one at a moment of its own', async () => {
    await using receivers = new AsyncDisposableStack()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    const all = await Promise.all(Array.from({ length: 12 }, async () => receivers.use(await startReceiver())))
    for (const [n, { url }] of all.entries()) await world.start(`c-${n}`, url)
    await using later = await world.another(await context.openAgain(db))
    later.run()
    for (let n = 0; n < 10; n++) await later.until(`c-${n}`, isClosed)
    const waiting = all.slice(10).map(({ requests }) => requests.all.length)
    assert.deepEqual(waiting, [0, 0])
    for (let n = 10; n < 12; n++) await later.passUntil(`c-${n}`, isClosed)
  })

  test('a failure that may pass is tried again after its delay, and the next attempt says its number', async () => {
    await using receiver = await startReceiver()
    await using world = await DeliveryWorld.open(await context.open())
    receiver.script({ status: 503 }, { status: 500 })
    world.run()
    await world.start('c', receiver.url)
    const first = await world.until('c', ({ state }) => state === 'BACKING_OFF')
    assert.equal(first.attempt, 1)
    await world.namespace.clock.advance(1_010)
    const second = await world.until('c', ({ state, attempt }) => state === 'BACKING_OFF' && attempt === 2)
    assert.equal(second.transitionCount, 4)
    await world.namespace.clock.advance(2_010)
    const record = await world.until('c', isClosed)
    assert.deepEqual([record.state, record.attempt], ['SUCCEEDED', 3])
    const attempts = receiver.requests.all.map(({ headers }) => headers['webhook-attempt'])
    assert.deepEqual(attempts, ['1', '2', '3'])
  })

  test('a refusal ends the run at once', async () => {
    await using receiver = await startReceiver({ answer: { status: 400 } })
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    await world.start('c', receiver.url)
    const record = await world.until('c', isClosed)
    assert.deepEqual([record.state, record.attempt], ['FAILED', 1])
  })

  test('attempts that are used up end the run with the last failure', async () => {
    await using receiver = await startReceiver({ answer: { status: 503 } })
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    await world.start('c', receiver.url, { maximumAttempts: 2 })
    await world.until('c', ({ state }) => state === 'BACKING_OFF')
    await world.namespace.clock.advance(1_010)
    const record = await world.until('c', isClosed)
    assert.deepEqual([record.state, record.attempt], ['FAILED', 2])
  })

  test('schedule-to-close ends a run in flight, and its answer counts no more', async () => {
    await using receiver = await startReceiver({ answer: null })
    await using world = await DeliveryWorld.open(await context.open(), '  request_timeout: 1h\n')
    world.run()
    await world.start('c', receiver.url, { timeoutSeconds: 5 })
    const request = await receiver.requests.next()
    await world.namespace.clock.advance(5_010)
    const record = await world.until('c', isClosed)
    assert.deepEqual([record.state, record.attempt], ['TIMED_OUT', 0])
    await request.closed
  })

  test('a first attempt that is put off is made when its time comes', async () => {
    await using receiver = await startReceiver()
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    await world.start('later', receiver.url, { delaySeconds: 60 })
    await world.start('now', receiver.url)
    await world.until('now', isClosed)
    assert.equal((await world.find('later')).record.attempt, 0)
    await world.namespace.clock.advance(59_000)
    assert.equal((await world.find('later')).record.attempt, 0)
    await world.passUntil('later', isClosed)
    assert.equal(receiver.requests.all.length, 2)
  })

  test('a delay that is over when its start is committed is waited for no longer', async () => {
    await using receiver = await startReceiver()
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    // The look at the beginning is over then.
    await world.start('first', receiver.url)
    await world.until('first', isClosed)
    await world.start('c', receiver.url, { delaySeconds: 0.000_001 })
    assert.equal((await world.until('c', isClosed)).state, 'SUCCEEDED')
  })

  test('a destination that does not answer delays no other', async () => {
    await using dead = await startReceiver({ answer: null })
    await using well = await startReceiver()
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    for (let n = 0; n < 150; n++) await world.start(`dead-${n}`, dead.url)
    await dead.requests.take(100)
    for (let n = 0; n < 50; n++) await world.start(`well-${n}`, well.url)
    await well.requests.take(50)
    assert.equal(dead.requests.all.length, 100)
  })

  test('after six failures in a row the destination is left alone until its time is over, then one trial is made', async () => {
    let status = 503
    await using receiver = await startReceiver({ answer: () => ({ status }) })
    await using world = await DeliveryWorld.open(await context.open(), '  destination: { concurrency: 1 }\n')
    world.run()
    for (let n = 0; n < 10; n++) await world.start(`c-${n}`, receiver.url)
    for (let n = 0; n < 6; n++) await world.until(`c-${n}`, ({ state }) => state === 'BACKING_OFF')
    const { destinationId } = await world.find('c-9')
    const lane = world.runtime.lanes.find(destinationId)
    assert.match(lane?.blockedReason() ?? '', /^circuit breaker is open for http:/)
    assert.equal(receiver.requests.all.length, 6)
    status = 200
    await world.namespace.clock.advance(55_000)
    assert.equal(receiver.requests.all.length, 6)
    for (let n = 0; n < 10; n++) await world.passUntil(`c-${n}`, isClosed)
    assert.equal(lane?.blockedReason(), null)
    assert.equal(receiver.requests.all.length, 16)
  })

  test('a start that fails leaves nothing behind that listens', async () => {
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    let listening = 0
    const subscribe = db.subscribe.bind(db)
    db.subscribe = (topic, listener) => {
      listening++
      const unsubscribe = subscribe(topic, listener)
      return () => {
        listening--
        unsubscribe()
      }
    }
    await db.close()
    await assert.rejects(world.runtime.dispatcher.run(new AbortController().signal))
    assert.equal(listening, 0)
  })

  test('a burst of large results is sent a few at a time, and arrives as it is', async () => {
    const held: ServerResponse[] = []
    let isHolding = true
    await using receiver = await startReceiver({
      answer: (_request, response) => {
        if (!isHolding) return { status: 200 }
        held.push(response)
        return null
      },
    })
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    const data = JSON.stringify('x'.repeat(2_000_000))
    for (let n = 0; n < 20; n++) await world.start(`c-${n}`, receiver.url, { data })
    await using later = await world.another(await context.openAgain(db))
    later.run()
    await receiver.requests.take(16)
    const lane = later.runtime.lanes.find((await later.find('c-0')).destinationId)
    assert.ok(lane)
    assert.deepEqual([lane.inFlight, lane.bytes <= MOST_BYTES], [16, true])
    isHolding = false
    for (const response of held) response.end()
    for (let n = 0; n < 20; n++) await later.until(`c-${n}`, isClosed)
    assert.deepEqual(new Set(receiver.requests.all.map(({ body }) => body.toString())), new Set([data]))
    assert.deepEqual([receiver.requests.all.length, lane.bytes], [20, 0])
  })

  test('a small callback that waits to be sent keeps nothing of the large request that it came in', {
    skip: context.engine === 'postgres' && 'it is read again when it is sent there',
  }, async () => {
    await using receiver = await startReceiver()
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    await world.start('before', receiver.url)
    await world.until('before', isClosed)
    const lane = world.runtime.lanes.find((await world.find('before')).destinationId) as Lane
    lane.settings = { ...lane.settings, heldBy: 'a test' }
    const namespace = (await world.namespace.policies.find('default')) as ActiveNamespace
    const large = new Uint8Array(100_000)
    const value = create(Callback_NexusSchema, { url: receiver.url })
    const data = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{}') }
    const wish = create(StartCallbackExecutionRequestSchema, {
      namespace: 'default',
      identity: 'test',
      callbackId: 'c',
      callback: { variant: { case: 'nexus', value } },
      input: { case: 'completion', value: { result: { case: 'success', value: data } } },
    })
    value.$unknown = [{ no: 99, wireType: WireType.Varint, data: new Uint8Array(1) }]
    wish.$unknown = [{ no: 99, wireType: WireType.LengthDelimited, data: new BinaryWriter().bytes(large).finish() }]
    const bytes = toBinary(StartCallbackExecutionRequestSchema, wish)
    const request = readBinary(StartCallbackExecutionRequestSchema, bytes)
    await world.runtime.starts.start(request, { rules: namespace, namespace: () => namespace })
    lane.settings = { ...lane.settings, heldBy: null }
    const next = lane.next()
    assert.equal(next.kind, 'go')
    const kept = buffersIn(next.run.sendable)
    assert.ok(kept.length > 0)
    assert.ok(Math.max(...kept) < large.length)
  })

  test('large inputs share some memory, for which small ones and other destinations do not wait', async () => {
    let answer = () => {}
    await using slow = await startReceiver({
      answer: (_request, response) => {
        answer = () => response.end()
        return null
      },
    })
    await using quick = await startReceiver()
    const { namespace } = await DeliveryWorld.open(await context.open(), '  request_timeout: 1h\n')
    await using world = await DeliveryWorld.over(namespace, { inputMemory: new SharedMemory(150_000) })
    world.run()
    const data = JSON.stringify('x'.repeat(100_000))
    await world.start('first', slow.url, { data })
    await slow.requests.next()
    await world.start('second', slow.url, { data })
    await world.start('elsewhere', quick.url, { data })
    await world.until('elsewhere', isClosed)
    // How large it is has to be asked for when its backoff is over.
    quick.script({ status: 500 })
    await world.start('again', quick.url)
    await world.until('again', ({ state }) => state === 'BACKING_OFF')
    await world.namespace.clock.advance(1_010)
    await world.until('again', isClosed)
    const answerFirst = answer
    await world.start('small', slow.url)
    await slow.requests.next()
    answer()
    await world.until('small', isClosed)
    assert.equal((await world.find('second')).record.attempt, 0)
    answerFirst()
    await slow.requests.next()
    answer()
    await world.until('second', isClosed)
  })

  test('failures that are sent as much more than is stored are sent a few at a time', async () => {
    const held: ServerResponse[] = []
    let isHolding = true
    await using receiver = await startReceiver({
      answer: (_request, response) => {
        if (!isHolding) return { status: 200 }
        held.push(response)
        return null
      },
    })
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    let failure: MessageInitShape<typeof FailureSchema> = { message: 'x'.repeat(380_000) }
    for (let n = 0; n < 20; n++) failure = { message: 'above', cause: failure }
    for (let n = 0; n < 6; n++) await world.start(`c-${n}`, receiver.url, { failure })
    await receiver.requests.take(4)
    const lane = world.runtime.lanes.find((await world.find('c-0')).destinationId)
    assert.ok(lane)
    assert.deepEqual([held.length, lane.bytes <= MOST_BYTES], [4, true])
    isHolding = false
    for (const response of held) response.end()
    for (let n = 0; n < 6; n++) await world.until(`c-${n}`, isClosed)
    assert.deepEqual([receiver.requests.all.length, lane.bytes], [6, 0])
  })

  test('the log says of which namespace a callback timed out, also where nothing was sent', async () => {
    const { promise: line, resolve } = Promise.withResolvers<string>()
    const log = createLogger({ level: 'warn', format: 'json', destination: { write: resolve } })
    await using world = await DeliveryWorld.open(await context.open())
    await using logged = await DeliveryWorld.over(world.namespace, { log })
    await logged.start('c', 'http://127.0.0.1:9', { delaySeconds: 600, timeoutSeconds: 5 })
    logged.run()
    await logged.passUntil('c', isClosed)
    const { event, namespace, callbackId } = JSON.parse(await line)
    assert.deepEqual([event, namespace, callbackId], ['callback.timed_out', 'default', 'c'])
  })

  test('a limit of the namespace that is lifted holds at once for what waits because of it', async () => {
    await using receiver = await startReceiver()
    await using world = await DeliveryWorld.open(await context.open(), '  destination: { rps: 0.001 }\n')
    const { namespaces, operator } = world.namespace
    world.run()
    for (const id of ['a', 'b', 'c']) await world.start(id, receiver.url)
    await receiver.requests.next()
    await namespaces.update(operator, { name: 'default', set: { destination: { rps: 0 } } })
    for (const id of ['a', 'b', 'c']) await world.until(id, isClosed)
    assert.equal(receiver.requests.all.length, 3)
  })

  test('so it is when a command beside the server lifts it', async () => {
    await using receiver = await startReceiver()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db, '  destination: { rps: 0.001 }\n')
    const command = await anotherProcess(world.namespace, await context.openAgain(db))
    world.run()
    for (const id of ['a', 'b']) await world.start(id, receiver.url)
    await receiver.requests.next()
    await command.namespaces.update(command.operator, { name: 'default', set: { destination: { rps: 0 } } })
    command.policies.close()
    const { clock } = world.namespace
    const began = clock.elapsedMs()
    for (const id of ['a', 'b']) await world.passUntil(id, isClosed)
    // What the limit would take.
    assert.ok(clock.elapsedMs() - began < 1_000_000)
  })

  test('stopping lets requests in flight end and stores what came of them', async () => {
    let answer = () => {}
    await using receiver = await startReceiver({
      answer: (_request, response) => {
        answer = () => response.end()
        return null
      },
    })
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    await world.start('c', receiver.url)
    await receiver.requests.next()
    const stopped = world.stop()
    await world.start('late', receiver.url)
    answer()
    await stopped
    assert.equal((await world.find('c')).record.state, 'SUCCEEDED')
    assert.equal((await world.find('late')).record.attempt, 0)
  })
})
