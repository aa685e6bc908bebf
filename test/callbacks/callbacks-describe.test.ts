import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { assertSays, eachServer, errorOf, NOBODY } from './callbacks-api.ts'

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?Z$/
const LINKS = [
  { batchJob: { jobId: 'job-1' } },
  { workflowEvent: { namespace: 'n', workflowId: 'w', runId: 'r', eventRef: { eventId: '7', eventType: 1 } } },
]

eachServer(
  'describing a callback execution',
  (callbacks) => {
    test('shows a running one as it was given, without its token', async () => {
      const nexus = {
        url: `${callbacks().silent.url}/x`,
        header: { 'X-Tenant': 'a', authorization: 'b' },
        token: 't-1',
      }
      const runId = await callbacks().startRun('running', {
        callback: { nexus, links: LINKS },
        scheduleToCloseTimeout: '90.5s',
        searchAttributes: { indexedFields: { CustomKeyword: 'k', CustomInt: 7, CustomKeywordList: ['a', 'b'] } },
      })
      const { info, longPollToken, ...others } = await callbacks().describe('running')
      assert.deepEqual(others, {})
      assert.ok(longPollToken)
      const { createTime, callback, ...rest } = info
      assert.match(createTime, RFC_3339)
      assert.deepEqual(callback.nexus, { url: nexus.url, header: { 'x-tenant': 'a', authorization: 'b' } })
      assert.deepEqual(
        JSON.parse(JSON.stringify(callback.links).replace(/"eventType":"[A-Z_]+"/, '"eventType":1')),
        LINKS,
      )
      assert.deepEqual(rest, {
        callbackId: 'running',
        runId,
        status: 'CALLBACK_EXECUTION_STATUS_RUNNING',
        state: 'CALLBACK_STATE_SCHEDULED',
        searchAttributes: { indexedFields: { CustomKeyword: 'k', CustomInt: 7, CustomKeywordList: ['a', 'b'] } },
        scheduleToCloseTimeout: '90.500s',
        stateTransitionCount: '1',
      })
    })

    test('shows input and outcome only to those who ask for them, the outcome only of closed runs', async () => {
      const completion = { failure: { message: 'no money', canceledFailureInfo: { identity: 'ada' } } }
      await callbacks().startRunning('asked', { completion })
      for (const query of ['?includeInput=true&includeOutcome=true', '?includeInput&include_outcome=1']) {
        const running = await callbacks().describe('asked', query)
        assert.deepEqual([running.input, running.outcome], [completion, undefined])
      }
      await callbacks().terminate('asked', { reason: 'enough', identity: 'bob' })
      const outcome = { failure: { message: 'enough', terminatedFailureInfo: { identity: 'bob' } } }
      const closed = await callbacks().describe('asked', '?includeInput=true&includeOutcome=true')
      assert.deepEqual([closed.input, closed.outcome, closed.longPollToken], [completion, outcome, undefined])
      const plain = await callbacks().describe('asked', '?includeInput=false&includeOutcome=0')
      assert.deepEqual(Object.keys(plain), ['info'])
    })

    test('one whose stored callback cannot be read is shown without it, and is not replayed', async () => {
      await callbacks().startRun('unreadable')
      await callbacks().closed('unreadable')
      const { dataDir, databaseUrl } = callbacks().server
      const clock = new SystemClock()
      await using db = await openDatabase({ dataDir, databaseUrl, poolSize: 1, clock, log: silentLogger() })
      const { run_number: number } = await db.query
        .selectFrom('callback_runs')
        .select('run_number')
        .where('callback_id', '=', 'unreadable')
        .executeTakeFirstOrThrow()
      await db.write((tx) =>
        tx.query
          .updateTable('callback_inputs')
          .set({ callback: Buffer.from('nonsense') })
          .where('run_number', '=', number)
          .execute(),
      )
      const { info, outcome } = await callbacks().describe('unreadable', '?includeOutcome=true')
      assert.deepEqual([info.callbackId, info.callback, outcome], ['unreadable', undefined, { success: {} }])
      const refused = await callbacks().api.post(callbacks().at('unreadable', '/replay'), 400, { body: {} })
      assert.equal(errorOf(refused).code, 9)
      assert.match(errorOf(refused).message, /cannot be decrypted/)
    })

    test('of a delivered failure says that delivery succeeded', async () => {
      await callbacks().startRun('failure', { completion: { failure: { message: 'no money' } } })
      await callbacks().closed('failure')
      const { info, outcome } = await callbacks().describe('failure', '?includeOutcome=true')
      assert.deepEqual(outcome, { success: {} })
      assert.deepEqual(
        [info.status, info.state, info.attempt, info.stateTransitionCount],
        ['CALLBACK_EXECUTION_STATUS_SUCCEEDED', 'CALLBACK_STATE_SUCCEEDED', 1, '2'],
      )
      assert.ok((info.closeTime as string) > info.createTime)
      assert.equal(info.lastAttemptCompleteTime, info.closeTime)
      assert.equal(info.lastAttemptFailure, undefined)
    })

    test('shows why an attempt failed and when the next one is', async () => {
      await using failing = await startReceiver({ answer: { status: 503 } })
      await callbacks().startRun('backing-off', {
        callback: { nexus: { url: failing.url } },
        retryPolicy: { initialInterval: '3600s' },
      })
      const info = await callbacks().untilState('backing-off', 'BACKING_OFF')
      assert.deepEqual([info.status, info.attempt], ['CALLBACK_EXECUTION_STATUS_RUNNING', 1])
      assert.deepEqual(info.lastAttemptFailure, {
        message: 'handler error (UNAVAILABLE)',
        applicationFailureInfo: {},
      })
      const delayMs = msBetween(info.lastAttemptCompleteTime, info.nextAttemptScheduleTime)
      assert.ok(delayMs >= 0.8 * 3_600_000 && delayMs <= 3_600_000, String(delayMs))
    })

    test('waits as long as the receiver asks for, up to the longest delay of the run where it has one of its own', async () => {
      for (const [id, retryPolicy, delayMs] of [
        ['patient', { maximumInterval: '36000s' }, 18_000_000],
        ['hasty', { maximumInterval: '10s' }, 10_000],
        ['ordinary', {}, 3_600_000],
      ] as const) {
        await using busy = await startReceiver({ answer: { status: 503, headers: { 'retry-after': '18000' } } })
        await callbacks().startRun(id, { callback: { nexus: { url: busy.url } }, retryPolicy })
        const info = await callbacks().untilState(id, 'BACKING_OFF')
        assert.equal(msBetween(info.lastAttemptCompleteTime, info.nextAttemptScheduleTime), delayMs, id)
      }
    })

    test('of a refused one has the failure that ended it', async () => {
      await using refusing = await startReceiver({ answer: { status: 400 } })
      await callbacks().startRun('refused', { callback: { nexus: { url: refusing.url } } })
      await callbacks().closed('refused')
      const { info, outcome } = await callbacks().describe('refused', '?includeOutcome=true')
      assert.deepEqual([info.status, info.state], ['CALLBACK_EXECUTION_STATUS_FAILED', 'CALLBACK_STATE_FAILED'])
      assert.deepEqual(outcome?.failure, info.lastAttemptFailure)
      assert.deepEqual(outcome?.failure?.applicationFailureInfo, { nonRetryable: true })
    })

    test('says BLOCKED, and why, while the destination is left alone', async () => {
      await using failing = await startReceiver({ answer: { status: 503 } })
      const callback = { nexus: { url: failing.url } }
      await callbacks().startRun('first', { callback, retryPolicy: { initialInterval: '3600s' } })
      await callbacks().untilState('first', 'BACKING_OFF')
      // The server of this suite tolerates no failure.
      await callbacks().startRun('second', { callback })
      const { info, longPollToken } = await callbacks().describe('second')
      assert.deepEqual(
        [info.status, info.state, info.attempt, info.stateTransitionCount],
        ['CALLBACK_EXECUTION_STATUS_RUNNING', 'CALLBACK_STATE_BLOCKED', undefined, '1'],
      )
      assert.ok(longPollToken)
      assertSays({ message: info.blockedReason as string, code: 0, details: [] }, 'breaker', failing.url)
      const listed = (await callbacks().list({ query: 'CallbackId = "second"' })).body.executions
      assert.equal(listed[0].status, 'CALLBACK_EXECUTION_STATUS_RUNNING')
      await callbacks().terminate('second')
      const closed = (await callbacks().describe('second')).info
      assert.deepEqual([closed.state, closed.blockedReason], ['CALLBACK_STATE_TERMINATED', undefined])
    })

    test('times out a run that did not arrive in its time, also in the middle of a request', async () => {
      await callbacks().startRunning('timed-out', { scheduleToCloseTimeout: '0.05s' })
      const { outcome } = await callbacks().closed('timed-out')
      assert.deepEqual(outcome, {
        failure: {
          message: 'callback execution timed out',
          timeoutFailureInfo: { timeoutType: 'TIMEOUT_TYPE_SCHEDULE_TO_CLOSE' },
        },
      })
      const { info } = await callbacks().describe('timed-out')
      assert.deepEqual(
        [info.status, info.state, info.attempt],
        ['CALLBACK_EXECUTION_STATUS_FAILED', 'CALLBACK_STATE_TIMED_OUT', undefined],
      )
      assert.equal(info.scheduleToCloseTimeout, '0.050s')
    })

    test('refuses what it cannot mean', async () => {
      const { api } = callbacks()
      await callbacks().startRunning('there')
      const describe = (rest: string, status: number) => api.get(callbacks().at('there', rest), status)
      assertSays(errorOf(await describe('?runId=no-uuid', 400)), 'run_id', 'UUID')
      assertSays(errorOf(await describe('?includeInput=maybe', 400)), 'includeInput')
      assertSays(errorOf(await describe('?runId=a&runId=b', 400)), 'runId', 'more than once')
      const unknown = errorOf(await describe(`?runId=${NOBODY}`, 404))
      assert.equal(unknown.code, 5)
      assertSays(unknown, 'there', NOBODY)
      assertSays(errorOf(await api.get(callbacks().at('not there'), 404)), 'not there')
      assertSays(errorOf(await api.get(callbacks().at('x'.repeat(1001)), 400)), 'callback_id', '1001', '1000')
      const nowhere = errorOf(await api.get('/namespaces/nowhere/callbacks/there', 404))
      assert.equal(nowhere.details[0]?.namespace, 'nowhere')
    })

    test('finds a run only under its own callback and namespace', async () => {
      const runId = await callbacks().startRunning('mine')
      await callbacks().startRunning('other')
      const elsewhere = await callbacks().another(`elsewhere-${runId}`)
      errorOf(await callbacks().api.get(callbacks().at('other', `?runId=${runId}`), 404))
      errorOf(await elsewhere.api.get(elsewhere.at('mine'), 404))
      errorOf(await elsewhere.api.get(elsewhere.at('mine', `?runId=${runId}`), 404))
      const upper = await callbacks().describe('mine', `?runId=${runId.toUpperCase()}`)
      assert.equal(upper.info.runId, runId)
    })
  },
  { env: { COMMONPLACE_CALLBACKS__BREAKER__CONSECUTIVE_FAILURES: '0' } },
)

function msBetween(earlier = '', later = ''): number {
  return Date.parse(later) - Date.parse(earlier)
}
