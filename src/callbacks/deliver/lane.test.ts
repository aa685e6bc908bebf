import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../platform/ids/uuid.ts'
import { GiveUp } from '../../platform/outbound/give-up.ts'
import type { WaitingRun } from '../run/run.ts'
import { startRun } from '../state/run-record.ts'
import { Lane, MOST_BYTES } from './lane.ts'

const MIB = 1024 * 1024

function laneOf(concurrency = 10): Lane {
  const clock = { now: () => 1_000, elapsedMs: () => 1, after: () => () => {} }
  return new Lane({ id: 1, destination: 'https://hooks.example.org' }, clock, {
    namespace: 'default',
    limits: { concurrency, rps: 0 },
    breaker: { consecutive_failures: 5, open_for: 60_000, half_open_requests: 1 },
    heldBy: null,
    requestTimeoutMs: 1_000,
  })
}

function run(runNumber: number, completionBytes?: number): WaitingRun {
  const record = startRun({ timeoutMicros: null, startDelayMicros: 0, retryPolicy: null }, 500)
  const names = { namespaceId: newId<'Namespace'>(), callbackId: 'c', runId: newId(), requestId: 'r' }
  const size = completionBytes !== undefined && { completionBytes }
  return { runNumber, ...names, destinationId: 1, timeoutMicros: null, record, ...size }
}

test('a run that is offered while the result of its attempt is stored is looked for again', () => {
  const lane = laneOf()
  assert.equal(lane.add(run(1)), true)
  assert.equal(lane.next().kind, 'go')
  assert.equal(lane.add(run(1), true), false)
  assert.equal(lane.next().kind, 'empty')
  assert.equal(lane.forget(1), true)
  assert.equal(lane.add(run(1)), true)
  assert.equal(lane.forget(1), false)
})

test('a run that is asked for by hand goes before those that wait', () => {
  const lane = laneOf()
  for (const number of [1, 2, 3]) lane.add(run(number))
  lane.add(run(3), true)
  lane.add(run(4), true)
  const order = [1, 2, 3, 4].map(() => {
    const next = lane.next()
    return next.kind === 'go' ? next.run.runNumber : null
  })
  assert.deepEqual(order, [4, 3, 1, 2])
})

/** Begins what may begin, as one turn of the event loop does. */
function beginAll(lane: Lane): WaitingRun[] {
  const begun: WaitingRun[] = []
  for (let next = lane.next(); next.kind === 'go'; next = lane.next()) {
    lane.begin(next.run)
    begun.push(next.run)
  }
  return begun
}

test('of a burst as many begin as there is memory for, before any of them is read', () => {
  for (const [size, expected] of [
    [undefined, 16],
    [2 * MIB, 16],
    [3 * MIB, 10],
    [100 * MIB, 1],
    [100, 100],
    [0, 100],
  ] as const) {
    const lane = laneOf(100)
    for (let number = 1; number <= 200; number++) lane.add(run(number, size))
    const begun = beginAll(lane)
    assert.equal(begun.length, expected, `${size}`)
    assert.ok(begun.length === 1 || lane.bytes <= MOST_BYTES)
    lane.end(begun[0] as WaitingRun)
    assert.equal(beginAll(lane).length, 1)
  }
})

test('no more is claimed than there is memory for', () => {
  const lane = laneOf(100)
  assert.equal(lane.claimable(), 100)
  const large = Array.from({ length: 100 }, (_, n) => run(n + 1, 2 * MIB))
  assert.equal(lane.fitting(large), 16)
  for (const each of large.slice(0, 16)) lane.add(each)
  const [first] = beginAll(lane)
  assert.equal(lane.claimable(), 0)
  lane.end(first as WaitingRun)
  assert.equal(lane.claimable(), 1)
  // Small ones again.
  assert.equal(lane.fitting([run(101, 100)]), 1)
  assert.equal(lane.claimable(), 85)
  assert.equal(laneOf().fitting([run(1, 100 * MIB), run(2, 1)]), 1)
})

test('a claim takes a hundred at most, whatever the limits of a destination are', () => {
  for (const [rps, most] of Object.entries({ 0: 100, 2.5: 3, 99: 99, 5000: 100 })) {
    const lane = laneOf(10_000)
    lane.settings = { ...lane.settings, limits: { concurrency: 10_000, rps: Number(rps) } }
    assert.equal(lane.claimable(), most)
  }
})

test('while results are stored, room for a few is not claimed, room for many and what is left at the end are', () => {
  const lane = laneOf(100)
  for (let number = 1; number <= 100; number++) lane.add(run(number, 100))
  const begun = beginAll(lane)
  lane.fitting([run(101, 100)])
  const end = (count: number) => {
    for (const each of begun.splice(0, count)) lane.end(each)
  }
  end(49)
  assert.equal(lane.claimable(), 49)
  lane.settling = 49
  assert.equal(lane.claimable(), 0)
  end(1)
  assert.equal(lane.claimable(), 50)
})

/** Asks for room for so many more MiB; how many have it so far. */
function growing(lane: Lane) {
  const grown: number[] = []
  const grow = (mib: number, signal = new GiveUp()) => lane.makeRoom(mib * MIB, signal).then(() => void grown.push(mib))
  return { grown, grow }
}

test('what is sent as more than was set aside for it waits for memory, in the order in which it came', async () => {
  const lane = laneOf()
  const { grown, grow } = growing(lane)
  const waiting = [20, 20, 1].map((mib) => grow(mib))
  await waiting[0]
  assert.deepEqual([grown, lane.bytes], [[20], 20 * MIB])
  lane.giveRoom(20 * MIB)
  await Promise.all(waiting)
  assert.deepEqual([grown, lane.bytes], [[20, 20, 1], 21 * MIB])
  lane.giveRoom(20 * MIB)
  lane.giveRoom(MIB)
  assert.equal(lane.bytes, 0)
})

test('what is larger than all the memory goes alone, and what turned out smaller waits for nobody', async () => {
  const lane = laneOf()
  for (let number = 1; number <= 10; number++) lane.add(run(number))
  const begun = beginAll(lane)
  const { grow } = growing(lane)
  await grow(100)
  const waits = grow(1)
  await grow(-1)
  assert.equal(lane.bytes, 119 * MIB)
  lane.giveRoom(100 * MIB)
  await waits
  lane.giveRoom(MIB)
  lane.giveRoom(-MIB)
  for (const each of begun) lane.end(each)
  assert.equal(lane.bytes, 0)
})

test('who is given up while it waits for memory lets the next one go', async () => {
  const lane = laneOf()
  const { grow } = growing(lane)
  await grow(20)
  const gone = new GiveUp()
  const waits = grow(20, gone)
  const next = grow(5)
  gone.abort(new Error('closed'))
  await assert.rejects(waits, { message: 'closed' })
  await next
  await assert.rejects(grow(20, gone), { message: 'closed' })
  assert.equal(lane.bytes, 25 * MIB)
})

test('what was larger than all the memory may be so again when it has been given back', async () => {
  const lane = laneOf()
  const { grow } = growing(lane)
  for (let times = 0; times < 2; times++) {
    await Promise.race([grow(100), Promise.resolve()])
    assert.equal(lane.bytes, 100 * MIB)
    lane.giveRoom(100 * MIB)
  }
})

test('what turned out smaller lets nobody else take more than there is', async () => {
  const lane = laneOf()
  const { grow } = growing(lane)
  await grow(20)
  await grow(-1)
  lane.giveRoom(-MIB)
  const waits = grow(20)
  assert.equal(lane.bytes, 20 * MIB)
  lane.giveRoom(20 * MIB)
  await waits
})

test('a run that somebody closed leaves the queue, and its request is broken off', () => {
  const lane = laneOf()
  for (const number of [1, 2, 3]) lane.add(run(number))
  lane.stop(2)
  assert.deepEqual(lane.queuedNumbers(), [1, 3])
  lane.stop(7)
  assert.deepEqual(lane.queuedNumbers(), [1, 3])
  assert.equal(lane.add(run(2)), true, 'it is forgotten')
  const next = lane.next()
  assert.ok(next.kind === 'go')
  const signal = lane.begin(next.run)
  lane.stop(3)
  assert.equal(signal.aborted, false)
  lane.stop(1)
  assert.equal(signal.aborted, true)
})

test('a server that stops breaks every request off and says whose they were', () => {
  const lane = laneOf()
  for (const number of [1, 2]) lane.add(run(number))
  const signals = beginSignals(lane)
  assert.deepEqual(lane.breakOff(), [1, 2])
  assert.ok(signals.every(({ aborted }) => aborted))
})

function beginSignals(lane: Lane) {
  const signals = []
  for (let next = lane.next(); next.kind === 'go'; next = lane.next()) signals.push(lane.begin(next.run))
  return signals
}

test('what another process may attempt soon is taken out of the queue and stays known', () => {
  const lane = laneOf()
  for (const [number, leasedUntil] of [
    [1, 10],
    [2, 20],
    [3, 9],
  ] as const)
    lane.add({ ...run(number), leasedUntil })
  lane.add(run(4))
  assert.deepEqual(lane.takeLapsed(10), [3])
  assert.deepEqual(lane.queuedNumbers(), [1, 2, 4])
  assert.deepEqual(lane.takeLapsed(11), [1])
  assert.deepEqual([...lane.known].sort(), [1, 2, 3, 4])
})

test('a lane is idle only while it knows of nothing, and nothing is looked for', () => {
  const lane = laneOf()
  assert.equal(lane.isIdle, true)
  lane.hasMore = true
  assert.equal(lane.isIdle, false)
  lane.hasMore = false
  lane.isLoading = true
  assert.equal(lane.isIdle, false)
  lane.isLoading = false
  lane.add(run(1))
  assert.equal(lane.isIdle, false)
})

test('nothing more is claimed while very many are put off, or some wait already', () => {
  const lane = laneOf()
  assert.equal(lane.claimable(), 10)
  lane.putOff = 1_000
  assert.equal(lane.claimable(), 0)
  lane.putOff = 999
  assert.equal(lane.claimable(), 10)
  lane.add(run(1))
  assert.equal(lane.claimable(), 0)
})

test('a lane that waits knows until when, be it for its rate or for its breaker', () => {
  const lane = laneOf()
  assert.equal(lane.nextOfferAt, null)
  lane.settings = { ...lane.settings, limits: { concurrency: 10, rps: 1 } }
  lane.limits.begin(1_000)
  assert.equal(lane.nextOfferAt, 1_001_000)
  lane.settings = { ...lane.settings, limits: { concurrency: 10, rps: 0 } }
  for (let times = 0; times < 6; times++) {
    const pass = lane.breaker.admit()
    if (pass !== null) lane.breaker.settle(pass, true)
  }
  assert.equal(lane.nextOfferAt, 60_001_000)
})
