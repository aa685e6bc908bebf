import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Receiver, startReceiver } from '../support/receivers/receiver.ts'
import { assertSays, type CallbacksApi, eachServer, errorOf, NOBODY, type Wish } from './callbacks-api.ts'

const LATER = { initialInterval: '3600s', maximumInterval: '3600s' }

function retry(callbacks: CallbacksApi, id: string, body: Wish = {}, status = 200) {
  return callbacks.api.post(callbacks.at(id, '/retry'), status, { body })
}

function to(receiver: Receiver, more: Wish = {}): Wish {
  return { callback: { nexus: { url: receiver.url } }, retryPolicy: LATER, ...more }
}

eachServer('retrying now', (callbacks) => {
  test('ends a backoff: the next attempt is made at once, and the run goes on from there', async () => {
    await using receiver = await startReceiver()
    receiver.script({ status: 503 }, { status: 500 })
    const runId = await callbacks().startRun('backoff', to(receiver))
    const first = await callbacks().untilState('backoff', 'BACKING_OFF')
    assert.deepEqual([first.attempt, first.stateTransitionCount], [1, '2'])
    assert.deepEqual((await retry(callbacks(), 'backoff', { runId })).body, {})
    const second = await callbacks().until('backoff', ({ attempt }) => attempt === 2)
    assert.deepEqual([second.state, second.stateTransitionCount], ['CALLBACK_STATE_BACKING_OFF', '4'])
    await retry(callbacks(), 'backoff')
    const last = await callbacks().untilState('backoff', 'SUCCEEDED')
    assert.deepEqual([last.attempt, last.stateTransitionCount], [3, '6'])
    assert.equal(receiver.requests.all.length, 3)
  })

  test('makes a first attempt that was put off', async () => {
    await using receiver = await startReceiver()
    await callbacks().startRun('put-off', to(receiver, { startDelay: '3600s' }))
    const { info } = await callbacks().describe('put-off')
    assert.ok(info.nextAttemptScheduleTime)
    await retry(callbacks(), 'put-off')
    const closed = await callbacks().untilState('put-off', 'SUCCEEDED')
    assert.deepEqual([closed.attempt, closed.nextAttemptScheduleTime], [1, undefined])
  })

  test('of an attempt in flight makes no second one', async () => {
    await using silent = await startReceiver({ answer: null })
    await callbacks().startRun('in-flight', to(silent))
    await silent.requests.next()
    await retry(callbacks(), 'in-flight')
    await retry(callbacks(), 'in-flight')
    const { info } = await callbacks().describe('in-flight')
    assert.deepEqual([info.state, info.stateTransitionCount], ['CALLBACK_STATE_SCHEDULED', '1'])
    await callbacks().terminate('in-flight')
    assert.equal(silent.requests.all.length, 1)
  })

  test('is one trial at a destination that is left alone, which opens or closes its breaker', async () => {
    let status = 503
    await using receiver = await startReceiver({ answer: () => ({ status }) })
    for (let n = 0; n < 6; n++) {
      await callbacks().startRun(`dead-${n}`, to(receiver))
      await callbacks().untilState(`dead-${n}`, 'BACKING_OFF')
    }
    for (const id of ['trial-1', 'trial-2', 'waits']) {
      await callbacks().startRun(id, to(receiver))
      assert.equal((await callbacks().describe(id)).info.state, 'CALLBACK_STATE_BLOCKED')
    }
    assert.equal(receiver.requests.all.length, 6)
    await retry(callbacks(), 'trial-1')
    const failed = await callbacks().untilState('trial-1', 'BACKING_OFF')
    assert.equal(failed.attempt, 1)
    assert.equal(receiver.requests.all.length, 7)
    assert.equal((await callbacks().describe('waits')).info.state, 'CALLBACK_STATE_BLOCKED')
    status = 200
    await retry(callbacks(), 'trial-2')
    await callbacks().untilState('trial-2', 'SUCCEEDED')
    await callbacks().untilState('waits', 'SUCCEEDED')
    assert.equal(receiver.requests.all.length, 9)
  })

  test('waits at a destination that is paused', async () => {
    await using receiver = await startReceiver()
    receiver.script({ status: 503 })
    await callbacks().startRun('paused', to(receiver))
    await callbacks().untilState('paused', 'BACKING_OFF')
    const destination = `${callbacks().base}/destinations/${encodeURIComponent(receiver.url)}`
    await callbacks().api.patch(destination, 200, { body: { paused: true } })
    await retry(callbacks(), 'paused')
    const { info } = await callbacks().describe('paused')
    assert.deepEqual([info.state, info.attempt], ['CALLBACK_STATE_BLOCKED', 1])
    assert.match(info.blockedReason ?? '', /paused/)
    await callbacks().api.patch(destination, 200, { body: { paused: false } })
    await callbacks().untilState('paused', 'SUCCEEDED')
    assert.equal(receiver.requests.all.length, 2)
  })

  test('is refused for a run that is closed, and for what is not there', async () => {
    const runId = await callbacks().startRun('closed')
    await callbacks().poll('closed')
    await callbacks().startRunning('terminated')
    await callbacks().terminate('terminated')
    for (const [id, body, status, code, word] of [
      ['closed', {}, 400, 9, 'SUCCEEDED'],
      ['closed', { runId }, 400, 9, 'SUCCEEDED'],
      ['terminated', {}, 400, 9, 'TERMINATED'],
      ['nowhere', {}, 404, 5, 'nowhere'],
      ['closed', { runId: NOBODY }, 404, 5, 'closed'],
      ['closed', { runId: 'x' }, 400, 3, 'run_id'],
      ['closed', { reason: 'x' }, 400, 3, 'reason'],
    ] as const) {
      const error = errorOf(await retry(callbacks(), id, body, status))
      assert.equal(error.code, code)
      assertSays(error, word)
    }
    errorOf(await callbacks().api.post('/namespaces/nowhere/callbacks/closed/retry', 404, { body: {} }))
  })

  test('takes no body at all, and works under both paths', async () => {
    await using receiver = await startReceiver()
    receiver.script({ status: 503 }, { status: 503 })
    await callbacks().startRun('bare', to(receiver))
    for (const prefix of ['', '/api/v1']) {
      await callbacks().untilState('bare', 'BACKING_OFF')
      await callbacks().api.post(prefix + callbacks().at('bare', '/retry'), 200)
      await callbacks().until('bare', ({ attempt, state }) => {
        return attempt === (prefix === '' ? 2 : 3) && state !== 'CALLBACK_STATE_SCHEDULED'
      })
    }
    assert.equal((await callbacks().describe('bare')).info.state, 'CALLBACK_STATE_SUCCEEDED')
  })
})
