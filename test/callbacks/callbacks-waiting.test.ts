/** What long polls do as time passes: the clock is driven, and the tests know who waits. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { changeDestination } from '../../src/callbacks/destination/store-destinations.ts'
import { messageScope } from '../../src/callbacks/http/message-operation.ts'
import { callbackRoutes } from '../../src/callbacks/run/routes-callbacks.ts'
import type { RunService } from '../../src/callbacks/run/run-service.ts'
import { CallbackState } from '../../src/gen/temporal/api/enums/v1/common_pb.js'
import {
  DeleteCallbackExecutionRequestSchema,
  DescribeCallbackExecutionRequestSchema,
  DescribeCallbackExecutionResponseSchema,
  PollCallbackExecutionRequestSchema,
  PollCallbackExecutionResponseSchema,
  TerminateCallbackExecutionRequestSchema,
} from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { AppError, isAppError } from '../../src/platform/errors/app-error.ts'
import { startPlatform } from '../api/platform/platform-server.ts'
import { type DatabaseContext, eachDatabase } from '../support/each-database.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { type RunServiceWorld, runServiceOver } from './run-service-world.ts'

const URL = 'http://127.0.0.1:9/hook'
const EMPTY_POLL = create(PollCallbackExecutionResponseSchema)
const EMPTY_DESCRIPTION = create(DescribeCallbackExecutionResponseSchema)

const poll = (callbackId: string, runId = '') =>
  create(PollCallbackExecutionRequestSchema, { namespace: 'default', callbackId, runId })
const describeIt = (callbackId: string, runId = '', longPollToken: Uint8Array = new Uint8Array(0)) =>
  create(DescribeCallbackExecutionRequestSchema, { namespace: 'default', callbackId, runId, longPollToken })
const terminate = (callbackId: string, reason = '') =>
  create(TerminateCallbackExecutionRequestSchema, { namespace: 'default', callbackId, reason })

/** Whether it is settled by now: whatever was ready has been let go on before. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise((resolve) => setImmediate(resolve, 'later'))
  return (await Promise.race([promise.catch(() => 'failed'), later])) === 'later'
}

async function open(context: DatabaseContext, yaml = ''): Promise<{ world: DeliveryWorld; service: RunServiceWorld }> {
  const world = await DeliveryWorld.open(await context.open(), yaml)
  return { world, service: runServiceOver(world) }
}

eachDatabase('waiting for a callback execution', (context) => {
  test('lasts as long as the namespace allows, and ends in the empty message', async () => {
    const { world, service } = await open(context)
    await using _ = world
    const { runs, began, call } = service
    const runId = await world.start('endless', URL)
    const { longPollToken } = await runs.describe(describeIt('endless'), call())
    const waiting = [
      runs.poll(poll('endless'), call()),
      runs.describe(describeIt('endless', runId, longPollToken), call()),
    ]
    await began.take(2)
    await world.namespace.clock.advance(59_999)
    for (const one of waiting) assert.ok(await isPending(one))
    await world.namespace.clock.advance(1)
    assert.deepEqual(await Promise.all(waiting), [EMPTY_POLL, EMPTY_DESCRIPTION])
  })

  test('ends a second before the caller gives up, and not before a caller who gives less than that', async () => {
    const { world, service } = await open(context)
    await using _ = world
    const { runs, began, call } = service
    await world.start('hurried', URL)
    for (const [deadlineMs, waitMs] of [
      [5_000, 4_000],
      [600_000, 60_000],
      [900, 900],
    ] as const) {
      const waiting = runs.poll(poll('hurried'), call({ deadlineMs }))
      await began.next()
      await world.namespace.clock.advance(waitMs - 1)
      assert.ok(await isPending(waiting), `${deadlineMs}`)
      await world.namespace.clock.advance(1)
      assert.deepEqual(await waiting, EMPTY_POLL)
    }
  })

  test('goes to as many as the namespace allows; who comes then is told to come again, until somebody has left', async () => {
    const { world, service } = await open(context, '  max_open_long_polls: 2\n')
    await using _ = world
    const { runs, began, call } = service
    const runId = await world.start('crowded', URL)
    const { longPollToken } = await runs.describe(describeIt('crowded'), call())
    const gone = new AbortController()
    const first = runs.poll(poll('crowded'), call({ signal: gone.signal }))
    const second = runs.describe(describeIt('crowded', runId, longPollToken), call())
    await began.take(2)
    const refused = (error: unknown) => isAppError(error, 'rate_limited') && error.headers['retry-after'] === '1'
    await assert.rejects(runs.poll(poll('crowded'), call()), refused)
    gone.abort()
    await assert.rejects(first, (error) => isAppError(error, 'canceled'))
    const third = runs.poll(poll('crowded'), call())
    await began.next()
    await runs.terminate(terminate('crowded', 'over'), call())
    assert.equal((await second).info?.stateTransitionCount, 2n)
    assert.equal((await third).outcome?.value.case, 'failure')
  })

  test('tells nothing to whoever may not ask any more, not even that the run is gone', async () => {
    const { world, service } = await open(context)
    await using _ = world
    const { runs, began, call } = service
    const runId = await world.start('private', URL)
    const { longPollToken } = await runs.describe(describeIt('private'), call())
    const revoked = call({
      refuseUnlessStillAllowed: () => Promise.reject(new AppError('unauthenticated', 'revoked meanwhile')),
    })
    const waiting = [
      runs.poll(poll('private'), revoked),
      runs.describe(describeIt('private', runId, longPollToken), revoked),
    ]
    const refused = Promise.all(waiting.map((one) => assert.rejects(one, { message: 'revoked meanwhile' })))
    await began.take(2)
    const request = create(DeleteCallbackExecutionRequestSchema, { namespace: 'default', callbackId: 'private' })
    await runs.delete(request, call())
    await world.namespace.clock.advance(500)
    await refused
  })

  test('ends at once when the server stops, and does not begin any more', async () => {
    const { world, service } = await open(context)
    await using _ = world
    const { runs, polls, began, call } = service
    await world.start('stopped', URL)
    const waiting = runs.poll(poll('stopped'), call())
    await began.next()
    polls.close()
    assert.deepEqual(await waiting, EMPTY_POLL)
    assert.deepEqual(await runs.poll(poll('stopped'), call()), EMPTY_POLL)
    await runs.terminate(terminate('stopped'), call())
    assert.equal((await runs.poll(poll('stopped'), call())).outcome?.value.case, 'failure')
  })

  test('sticks to the run that was the latest when it began', async () => {
    const { world, service } = await open(context)
    await using _ = world
    const { runs, began, call } = service
    const first = await world.start('fixed', URL)
    const waiting = runs.poll(poll('fixed'), call())
    await began.next()
    await runs.terminate(terminate('fixed', 'the first'), call())
    const second = await world.start('fixed', URL)
    assert.equal((await waiting).runId, first)
    const again = runs.poll(poll('fixed'), call())
    await began.next()
    await runs.terminate(terminate('fixed', 'the second'), call())
    assert.equal((await again).runId, second)
  })

  test('does not end when only the breaker of the destination changes', async () => {
    const { world, service } = await open(context)
    await using _ = world
    const { runs, began, call } = service
    const runId = await world.start('unmoved', URL)
    const { longPollToken } = await runs.describe(describeIt('unmoved'), call())
    const waiting = runs.describe(describeIt('unmoved', runId, longPollToken), call())
    await began.next()
    const { destinationId } = await world.find('unmoved')
    const lane = await world.runtime.lanes.load(destinationId)
    for (let n = 0; n < 6; n++) {
      const pass = lane?.breaker.admit()
      if (pass) lane?.breaker.settle(pass, true)
    }
    assert.match((await runs.describe(describeIt('unmoved'), call())).info?.blockedReason ?? '', /breaker/)
    assert.ok(await isPending(waiting))
    await runs.terminate(terminate('unmoved'), call())
    assert.ok((await waiting).info)
  })

  test('is no waiting at all with a token from the future, which a restored backup leaves behind', async () => {
    const { world, service } = await open(context)
    await using _ = world
    const { runs, tokens, call } = service
    const runId = await world.start('restored', URL)
    const token = tokens.longPollToken({ namespace: 'default', callbackId: 'restored', runId }, 99)
    const { info } = await runs.describe(describeIt('restored', runId, token), call())
    assert.equal(info?.stateTransitionCount, 1n)
  })

  test('of a paused destination says so, whether or not this process has had to do with it', async () => {
    const { world } = await open(context)
    await using _ = world
    await world.start('paused', URL)
    const { destinationId } = await world.find('paused')
    await world.db.write((tx) => changeDestination(tx, destinationId, { isPaused: true }))
    await using another = await world.another(await context.openAgain(world.db))
    const { runs, call } = runServiceOver(another)
    const shown = async () => {
      const { info } = await runs.describe(describeIt('paused'), call())
      return [info?.state, info?.blockedReason]
    }
    const wanted = [CallbackState.BLOCKED, 'destination http://127.0.0.1:9 is paused']
    assert.deepEqual(await shown(), wanted)
    await another.runtime.lanes.load(destinationId)
    assert.deepEqual(await shown(), wanted)
  })

  test('is over for a caller who hangs up, at once', async () => {
    const { world, service } = await open(context, '  max_open_long_polls: 1\n')
    await using _ = world
    const { runs, began, call } = service
    const { promise: polled, resolve } = Promise.withResolvers<unknown>()
    const observed = Object.assign(Object.create(runs) as RunService, {
      poll(...given: Parameters<RunService['poll']>) {
        const answer = runs.poll(...given)
        resolve(answer.catch((error: unknown) => error))
        return answer
      },
    })
    await using platform = await startPlatform({
      routes: (server) => messageScope(server, (scope) => callbackRoutes(scope, observed)),
    })
    await world.start('hung-up', URL)
    const caller = request(`${platform.url}/namespaces/default/callbacks/hung-up/outcome`, {
      headers: { authorization: 'Bearer admin' },
    })
    caller.on('error', () => {})
    caller.end()
    await began.next()
    caller.destroy()
    assert.ok(isAppError(await polled, 'canceled'))
    // Its place is free again.
    const waiting = runs.poll(poll('hung-up'), call())
    await began.next()
    await runs.terminate(terminate('hung-up'), call())
    assert.equal((await waiting).outcome?.value.case, 'failure')
  })

  test('hears of a change by another process', {
    skip: context.engine === 'sqlite' && 'there is only one',
  }, async () => {
    const { world, service } = await open(context)
    await using _ = world
    await using another = await world.another(await context.openAgain(world.db))
    const elsewhere = runServiceOver(another)
    await world.start('shared', URL)
    const waiting = service.runs.poll(poll('shared'), service.call())
    await service.began.next()
    await elsewhere.runs.terminate(terminate('shared', 'from afar'), elsewhere.call())
    assert.ok(await isPending(waiting))
    await world.namespace.clock.advance(1_000)
    const { outcome } = await waiting
    assert.ok(outcome?.value.case === 'failure' && outcome.value.value.message === 'from afar')
    // And so it does of a deletion.
    await world.start('shared-2', URL)
    const deleted = service.runs.poll(poll('shared-2'), service.call())
    await service.began.next()
    const gone = create(DeleteCallbackExecutionRequestSchema, { namespace: 'default', callbackId: 'shared-2' })
    await elsewhere.runs.delete(gone, elsewhere.call())
    await world.namespace.clock.advance(1_000)
    await assert.rejects(deleted, (error) => isAppError(error, 'not_found'))
  })
})
