import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startReceiver } from '../support/receivers/receiver.ts'
import { assertSays, eachServer, errorOf, NOBODY } from './callbacks-api.ts'

eachServer('terminating a callback execution', (callbacks) => {
  test('ends it at once and breaks off the request in flight', async () => {
    await using receiver = await startReceiver({ answer: null })
    await callbacks().startRun('ended', { callback: { nexus: { url: receiver.url } } })
    const delivery = await receiver.requests.next()
    const { body } = await callbacks().terminate('ended', { reason: 'enough', identity: 'ada', requestId: 't-1' })
    assert.deepEqual(body, {})
    await delivery.closed
    const { info, outcome } = await callbacks().describe('ended', '?includeOutcome=true')
    assert.doesNotMatch(callbacks().server.output(), /could not be made/)
    assert.deepEqual(
      [info.status, info.state, info.attempt, info.stateTransitionCount],
      ['CALLBACK_EXECUTION_STATUS_TERMINATED', 'CALLBACK_STATE_TERMINATED', undefined, '2'],
    )
    assert.ok((info.closeTime as string) > info.createTime)
    assert.deepEqual(outcome, { failure: { message: 'enough', terminatedFailureInfo: { identity: 'ada' } } })
  })

  test('has words of its own where the caller gives none, and needs no body', async () => {
    await callbacks().startRunning('wordless')
    await callbacks().api.post(callbacks().at('wordless', '/terminate'), 200)
    const { outcome } = await callbacks().describe('wordless', '?includeOutcome')
    assert.deepEqual(outcome?.failure, { message: 'callback execution terminated', terminatedFailureInfo: {} })
  })

  test('of one that backs off keeps why it did, and forgets when it would have gone on', async () => {
    await using failing = await startReceiver({ answer: { status: 503 } })
    const callback = { nexus: { url: failing.url } }
    await callbacks().startRun('backing', { callback, retryPolicy: { initialInterval: '3600s' } })
    await callbacks().untilState('backing', 'BACKING_OFF')
    await callbacks().terminate('backing', { reason: 'enough' })
    const { info, outcome } = await callbacks().describe('backing', '?includeOutcome')
    assert.deepEqual([info.attempt, info.nextAttemptScheduleTime], [1, undefined])
    assert.match(info.lastAttemptFailure?.message as string, /UNAVAILABLE/)
    assert.equal(outcome?.failure?.message, 'enough')
  })

  test('again by the same request changes nothing; by another one is refused and says who was first', async () => {
    await callbacks().startRunning('twice')
    await callbacks().terminate('twice', { requestId: 't-1', reason: 'first' })
    const before = await callbacks().describe('twice', '?includeOutcome')
    assert.deepEqual((await callbacks().terminate('twice', { requestId: 't-1', reason: 'second' })).body, {})
    for (const body of [{ requestId: 't-2' }, {}]) {
      const error = errorOf(await callbacks().terminate('twice', body, 400))
      assert.equal(error.code, 9)
      assertSays(error, 't-1')
    }
    assert.deepEqual(await callbacks().describe('twice', '?includeOutcome'), before)
  })

  test('of one that has closed by itself is refused', async () => {
    const runId = await callbacks().startRun('delivered')
    await callbacks().closed('delivered')
    const error = errorOf(await callbacks().terminate('delivered', { requestId: 't-1' }, 400))
    assert.equal(error.code, 9)
    assertSays(error, 'SUCCEEDED')
    await callbacks().startRunning('delivered')
    errorOf(await callbacks().terminate('delivered', { runId }, 400))
    assert.equal((await callbacks().describe('delivered')).info.state, 'CALLBACK_STATE_SCHEDULED')
  })

  test('means the latest run, or the one that it names', async () => {
    const first = await callbacks().startRunning('named')
    await callbacks().terminate('named', { runId: first.toUpperCase() })
    const second = await callbacks().startRunning('named')
    errorOf(await callbacks().terminate('named', { runId: NOBODY }, 404))
    await callbacks().terminate('named')
    const states = [first, second].map(async (id) => (await callbacks().describe('named', `?runId=${id}`)).info.state)
    assert.deepEqual(await Promise.all(states), ['CALLBACK_STATE_TERMINATED', 'CALLBACK_STATE_TERMINATED'])
  })

  test('refuses what it cannot mean', async () => {
    await callbacks().startRunning('kept')
    for (const [body, ...says] of [
      [{ runId: 'x' }, 'run_id', 'UUID'],
      [{ identity: 'x'.repeat(1001) }, 'identity', '1001', '1000'],
      [{ requestId: 'x'.repeat(1001) }, 'request_id', '1001', '1000'],
      [{ reason: 'ü'.repeat(501) }, 'reason', '1002', '1000'],
      [{ nothing: 1 }, 'nothing'],
    ] as const) {
      const error = errorOf(await callbacks().terminate('kept', body, 400))
      assert.equal(error.code, 3)
      assertSays(error, ...says)
    }
    for (const name of ['runId', 'run_id']) {
      const path = `${callbacks().at('kept')}/terminate?${name}=${NOBODY}`
      assertSays(errorOf(await callbacks().api.post(path, 400)), `${name} belongs to the body`)
    }
    assertSays(errorOf(await callbacks().terminate('x'.repeat(1001), {}, 400)), 'callback_id')
    assertSays(errorOf(await callbacks().terminate('not there', {}, 404)), 'not there')
    const nowhere = errorOf(await callbacks().api.post('/namespaces/nowhere/callbacks/kept/terminate', 404))
    assert.equal(nowhere.details[0]?.namespace, 'nowhere')
    assert.equal((await callbacks().describe('kept')).info.state, 'CALLBACK_STATE_SCHEDULED')
  })

  test('by many at once has one winner, and deliveries that race with it leave one outcome', async () => {
    for (let n = 0; n < 5; n++) {
      const id = `raced-${n}`
      await callbacks().startRun(id)
      const wishes = Array.from({ length: 4 }, (_, k) => `t-${k}`)
      const statuses = await Promise.all(
        wishes.map(async (requestId) => {
          const response = await fetch(new URL(callbacks().at(id, '/terminate'), callbacks().server.url), {
            method: 'POST',
            headers: {
              authorization: `Bearer ${callbacks().server.adminToken}`,
              'content-type': 'application/json',
            },
            body: JSON.stringify({ requestId, reason: requestId }),
          })
          await response.text()
          return response.status
        }),
      )
      const { info, outcome } = await callbacks().describe(id, '?includeOutcome')
      const winner = statuses.indexOf(200)
      assert.deepEqual(statuses.filter((status) => status === 200).length, winner < 0 ? 0 : 1)
      if (winner < 0) assert.equal(info.state, 'CALLBACK_STATE_SUCCEEDED')
      else assert.equal(outcome?.failure?.message, wishes[winner])
      assert.equal(info.stateTransitionCount, '2')
    }
  })
})
