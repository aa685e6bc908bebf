import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../platform/ids/uuid.ts'
import { startRun } from '../state/run-record.ts'
import { Lane } from './lane.ts'
import type { WaitingRun } from './run.ts'

function laneOf(): Lane {
  const clock = { now: () => 1_000, elapsedMs: () => 1, after: () => () => {} }
  return new Lane({ id: 1, destination: 'https://hooks.example.org' }, clock, {
    namespace: 'default',
    limits: { concurrency: 10, rps: 0 },
    breaker: { consecutive_failures: 5, open_for: 60_000, half_open_requests: 1 },
    heldBy: null,
    requestTimeoutMs: 1_000,
  })
}

function run(runNumber: number): WaitingRun {
  const { record } = startRun({ timeoutMicros: null, startDelayMicros: 0, retryPolicy: null }, 500)
  const names = { namespaceId: newId<'Namespace'>(), callbackId: 'c', runId: newId(), requestId: 'r' }
  return { runNumber, ...names, destinationId: 1, timeoutMicros: null, record }
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
