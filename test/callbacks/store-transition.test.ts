import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeDue } from '../../src/callbacks/deliver/store-due.ts'
import { findDestination } from '../../src/callbacks/destination/store-destinations.ts'
import type { Settlement } from '../../src/callbacks/run/run.ts'
import { KEPT_ATTEMPTS, listAttempts } from '../../src/callbacks/run/store-attempts.ts'
import { deleteRun } from '../../src/callbacks/run/store-delete.ts'
import { RUNNING_SORT_AT } from '../../src/callbacks/run/store-runs.ts'
import { storeTransition } from '../../src/callbacks/run/store-transition.ts'
import { isTerminal, STATE_NUMBERS, STATUS_NUMBERS, statusOf } from '../../src/callbacks/state/run-state.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { findFailures } from './store-rows.ts'
import {
  FATAL,
  live,
  RETRYABLE,
  reread,
  SHARED,
  settlementOf,
  start,
  startMany,
  store,
  TERMINATE,
} from './store-world.ts'

const SUCCESS = { kind: 'attempt_succeeded' } as const
const BACKOFF_DUE = { kind: 'backoff_due' } as const

async function rowOf(db: Database, runNumber: number) {
  const row = await db.query
    .selectFrom('callback_runs')
    .select(['status', 'state', 'due_at', 'sort_at', 'lease_owner'])
    .where('run_number', '=', runNumber)
    .executeTakeFirstOrThrow()
  return { ...row }
}

eachDatabase('storing transitions', ({ open, openAgain, engine }) => {
  const paths = {
    succeed: [[SUCCESS, 2_000]],
    back_off: [[RETRYABLE, 2_000]],
    fail: [[FATAL, 2_000]],
    use_up_attempts: [[RETRYABLE, 2_000]],
    schedule: [
      [RETRYABLE, 2_000],
      [BACKOFF_DUE, 3_000],
    ],
    retry_now: [
      [RETRYABLE, 2_000],
      [{ kind: 'retry_now' }, 2_001],
    ],
    terminate: [
      [RETRYABLE, 2_000],
      [TERMINATE, 2_001],
    ],
    time_out: [[{ kind: 'timeout_due' }, 70_000]],
  } as const

  for (const [name, events] of Object.entries(paths)) {
    test(`"${name}" is read again as it was computed`, async () => {
      const db = await open()
      let run = await start(db, {
        timeoutMicros: 60_000,
        retryPolicy: name === 'use_up_attempts' ? { maximumAttempts: 1 } : null,
      })
      let last: Settlement | undefined
      for (const [event, at] of events) {
        last = settlementOf(run, event, at)
        assert.deepEqual(await store(db, [last]), new Set([run.runNumber]))
        run = { ...run, record: last.changed.record }
      }
      assert.equal(last?.changed.transition, name)
      assert.deepEqual((await reread(db, run)).record, run.record)
      const { state, closedAt } = run.record
      assert.deepEqual(await rowOf(db, run.runNumber), {
        status: STATUS_NUMBERS[statusOf(state)],
        state: STATE_NUMBERS[state],
        due_at: isTerminal(state) ? null : last?.dueAt,
        sort_at: closedAt ?? RUNNING_SORT_AT,
        lease_owner: null,
      })
    })
  }

  test('of two that read the same state the first wins, and the second leaves no trace', async () => {
    const db = await open()
    const run = await start(db)
    const [winner, loser] = [settlementOf(run, SUCCESS, 2_000), settlementOf(run, FATAL, 3_000)]
    assert.deepEqual(await store(db, [winner]), new Set([run.runNumber]))
    assert.deepEqual(await store(db, [loser]), new Set())
    assert.equal(
      await db.write((tx) => storeTransition(tx, run, settlementOf(run, TERMINATE, 4_000).changed, { dueAt: null })),
      false,
    )
    assert.deepEqual((await reread(db, run)).record, winner.changed.record)
    assert.deepEqual(await findFailures(db, run.runNumber), { lastAttempt: null, terminal: null })
    assert.equal((await listAttempts(db, run.runNumber, null, 10)).length, 1)
    const { lastSuccessAt, lastFailureAt } = (await findDestination(db, run.destinationId)) ?? {}
    assert.deepEqual([lastSuccessAt, lastFailureAt], [2_000, null])
  })

  test('in a batch each stands for itself, whoever lost', async () => {
    const db = await open()
    const runs = await startMany(
      db,
      Array.from({ length: 60 }, (_, n) => ({ destination: `https://d${n % 4}.example.org` })),
    )
    const stopped = runs.filter((_, n) => n % 3 === 0)
    await store(
      db,
      stopped.map((run) => settlementOf(run, TERMINATE, 1_500)),
    )
    const [gone, ...others] = runs.filter((run) => !stopped.includes(run))
    assert.ok(gone)
    await db.write((tx) => deleteRun(tx, gone.runNumber))
    const batch = runs.map((run, n) => settlementOf(run, n % 2 ? SUCCESS : RETRYABLE, 2_000 + n)).reverse()
    assert.deepEqual(await store(db, batch), new Set(others.map(({ runNumber }) => runNumber)))
    for (const { run, changed } of batch.filter(({ run }) => others.includes(run))) {
      assert.deepEqual((await reread(db, run)).record, changed.record)
      assert.equal((await listAttempts(db, run.runNumber, null, 10)).length, 1)
    }
    for (const run of stopped) {
      assert.equal((await reread(db, run)).record.state, 'TERMINATED')
      assert.deepEqual(await listAttempts(db, run.runNumber, null, 10), [])
    }
    assert.deepEqual(await listAttempts(db, gone.runNumber, null, 10), [])
    assert.deepEqual(await store(db, []), new Set())
  })

  test('several hundred are stored in one write', async () => {
    const db = await open()
    const runs = await startMany(
      db,
      Array.from({ length: 600 }, () => ({})),
    )
    const won = await store(
      db,
      runs.map((run, n) => settlementOf(run, SUCCESS, 2_000 + n)),
    )
    assert.equal(won.size, 600)
    assert.equal((await findDestination(db, runs[0]?.destinationId ?? 0))?.lastSuccessAt, 2_599)
  })

  test('the last failure of an attempt stays after a success, and beside the failure that ended the run', async () => {
    const db = await open()
    const failed = { message: 'try later', applicationFailureInfo: { nonRetryable: false } }
    const [one, two] = await startMany(db, [{}, {}])
    assert.ok(one && two)
    await live(db, one, [RETRYABLE, 2_000], [BACKOFF_DUE, 3_000], [SUCCESS, 4_000])
    assert.deepEqual(await findFailures(db, one.runNumber), { lastAttempt: failed, terminal: null })
    await live(db, two, [RETRYABLE, 2_000], [TERMINATE, 3_000])
    assert.deepEqual(await findFailures(db, two.runNumber), {
      lastAttempt: failed,
      terminal: { message: 'enough', terminatedFailureInfo: { identity: 'ada' } },
    })
  })

  test('a reason that no database keeps as text is kept', async () => {
    const db = await open()
    const run = await start(db)
    await live(db, run, [{ ...TERMINATE, reason: 'a\0b "c" \\ 🗒' }, 2_000])
    assert.equal((await findFailures(db, run.runNumber)).terminal?.message, 'a\0b "c" \\ 🗒')
  })

  test('the log of a run keeps its newest attempts, newest first', async () => {
    const db = await open()
    const run = await start(db)
    const attempts = KEPT_ATTEMPTS + 5
    const events = Array.from({ length: attempts }, (_, n) => {
      const at = 10_000 * (n + 1)
      return [
        [{ ...RETRYABLE, message: `attempt ${n + 1}` }, at],
        [BACKOFF_DUE, at + 9_000],
      ] as const
    })
    await live(db, run, ...events.flat().map(([event, at]): [typeof event, number] => [event, at]))
    const first = await listAttempts(db, run.runNumber, null, 60)
    const rest = await listAttempts(db, run.runNumber, first.at(-1)?.attempt ?? 0, 60)
    const expected = Array.from({ length: KEPT_ATTEMPTS }, (_, n) => attempts - n)
    assert.deepEqual(
      [...first, ...rest].map(({ attempt }) => attempt),
      expected,
    )
    assert.deepEqual(first[0], {
      attempt: attempts,
      startedAt: 10_000 * attempts - 5,
      endedAt: 10_000 * attempts,
      outcome: 'unknown-error',
      statusCode: null,
      errorType: '',
      message: `attempt ${attempts}`,
      responseSnippet: 'said',
      address: '203.0.113.7',
    })
  })

  test('a destination is known for its latest success and failure, in whatever order they are stored', async () => {
    const db = await open()
    const runs = await startMany(
      db,
      Array.from({ length: 6 }, () => ({})),
    )
    const [a, b, c, d, e, f] = runs
    assert.ok(a && b && c && d && e && f)
    const news = async () => {
      const { lastSuccessAt, lastFailureAt, lastFailureMessage } = (await findDestination(db, a.destinationId)) ?? {}
      return [lastSuccessAt, lastFailureAt, lastFailureMessage]
    }
    assert.deepEqual(await news(), [null, null, null])
    await store(db, [settlementOf(a, SUCCESS, 3_000), settlementOf(b, SUCCESS, 2_500)])
    assert.deepEqual(await news(), [3_000, null, null])
    await store(db, [settlementOf(c, { ...FATAL, message: 'later' }, 5_000), settlementOf(d, FATAL, 4_000)])
    await store(db, [settlementOf(e, { ...FATAL, message: 'earlier' }, 4_500), settlementOf(f, SUCCESS, 2_000)])
    assert.deepEqual(await news(), [3_000, 5_000, 'later'])
  })

  test('batches that meet in opposite orders both end, and each run is won once', async () => {
    const db = await open()
    const other = await openAgain(db)
    for (let round = 0; round < 5; round++) {
      const runs = await startMany(
        db,
        Array.from({ length: 40 }, (_, n) => ({ destination: `https://d${n % 7}.example.org` })),
      )
      const batch = runs.map((run) => settlementOf(run, SUCCESS, 2_000))
      const [one, two] = await Promise.all([store(db, batch), store(other, batch.toReversed())])
      assert.deepEqual(
        [...one, ...two].sort((a, b) => a - b),
        runs.map(({ runNumber }) => runNumber),
      )
    }
  })

  test('who lost the lease settles nothing, who holds it does, and a termination asks for none', {
    skip: engine === 'sqlite',
  }, async () => {
    const db = await open()
    const runs = await startMany(db, [{}, {}, {}])
    const [destinationId = 0] = runs.map((run) => run.destinationId)
    const take = (owner: string, now: number) =>
      takeDue(db, { destinationId, now, limit: 10, leaseUntil: now + 100, owner, exclude: [] })
    assert.equal((await take('first', 2_000)).length, 3)
    const settle = (n: number, leaseOwner: string | null, event: typeof SUCCESS | typeof TERMINATE = SUCCESS) =>
      store(db, [settlementOf(runs[n] as (typeof runs)[0], event, 2_500, { leaseOwner })])
    // Over, but nobody else has it.
    assert.equal((await settle(0, 'first')).size, 1)
    assert.equal((await take('second', 2_200)).length, 2)
    assert.equal((await settle(1, 'first')).size, 0)
    assert.equal((await settle(1, 'second')).size, 1)
    assert.equal((await settle(2, null, TERMINATE)).size, 1)
    assert.equal((await settle(2, 'second')).size, 0)
    assert.deepEqual(await rowOf(db, runs[2]?.runNumber ?? 0), {
      status: 4,
      state: 7,
      due_at: null,
      sort_at: 2_500,
      lease_owner: null,
    })
  })

  test('a transition of one run is stored by itself', async () => {
    const db = await open()
    const run = await start(db)
    const { changed } = settlementOf(run, TERMINATE, 2_000)
    assert.equal(await db.write((tx) => storeTransition(tx, run, changed, { dueAt: null }), SHARED), true)
    assert.deepEqual((await reread(db, run)).record, changed.record)
  })
})
