import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import {
  backoffsDue,
  clampDue,
  type Due,
  delayedDue,
  destinationsDue,
  MOST_WAITING,
  nextDue,
  takeDue,
  timeoutsDue,
  waitingCounts,
} from '../../src/callbacks/deliver/store-due.ts'
import { extendLease, leasedByOthers, releaseLeases } from '../../src/callbacks/deliver/store-leases.ts'
import type { StoredRun, WaitingRun } from '../../src/callbacks/run/run.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { addDestinations, fillRuns, type SampleRow } from './store-rows.ts'
import { live, RETRYABLE, SHARED, settlementOf, start, startMany, store } from './store-world.ts'

const HOUR = 3_600_000_000
const DESTINATIONS = 6
const time = fc.integer({ min: 1, max: 12 })
const ORDINARY = { next: null, deadline: null }
const sample: fc.Arbitrary<SampleRow> = fc
  .record({
    destination: fc.integer({ min: 1, max: DESTINATIONS }),
    kind: fc.constantFrom('scheduled', 'delayed', 'backing off', 'closed'),
    due: time,
    deadline: fc.option(time),
  })
  .map(({ destination, kind, due, deadline }) => {
    switch (kind) {
      case 'scheduled':
        return { ...ORDINARY, destination, state: 2, due, deadline }
      case 'delayed':
        return { destination, state: 2, due, next: due, deadline }
      case 'backing off':
        return { destination, state: 3, due, next: due, deadline }
      default:
        return { ...ORDINARY, destination, state: 5, due: null, closed: due, deadline }
    }
  })

function take(db: Database, destinationId: number, now: number, also: object = {}) {
  return takeDue(db, { destinationId, now, limit: 1_000, leaseUntil: now + 100, owner: 'me', exclude: [], ...also })
}

eachDatabase('what is due', ({ open, openAgain, engine }) => {
  test('agrees with a plain look at all runs, at any time', async () => {
    const db = await open()
    await addDestinations(db, DESTINATIONS)
    const samples = fc.array(sample, { maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(samples, time, time, fc.integer({ min: 1, max: 4 }), async (rows, now, after, limit) => {
        const runs = await fillRuns(db, rows)
        const open = runs.filter(({ state }) => state !== 5)
        const numbers = (some: { runNumber: number }[]) => some.map(({ runNumber }) => runNumber)
        const by = (key: 'due' | 'deadline') => (a: (typeof runs)[0], b: (typeof runs)[0]) =>
          Number(a[key]) - Number(b[key]) || a.runNumber - b.runNumber
        const isDue = ({ due }: SampleRow) => due !== null && due <= now
        const scheduled = open.filter(({ state }) => state === 2)
        const due = scheduled.filter(isDue)

        const ids = [...new Set(due.map(({ destination }) => destination))].sort((a, b) => a - b)
        assert.deepEqual(await destinationsDue(db, 0, 100, now), ids)
        assert.deepEqual(await destinationsDue(db, 2, limit, now), ids.filter((id) => id > 2).slice(0, limit))

        const backoffs = open.filter((run) => run.state === 3 && isDue(run)).sort(by('due'))
        assert.deepEqual(
          times((await backoffsDue(db, now, limit)).runs),
          backoffs.slice(0, limit).map((run) => run.due),
        )
        for (const look of [backoffsDue, timeoutsDue]) {
          assert.deepEqual(numbers(await pageByPage(db, look, now, limit)), numbers((await look(db, now, 100)).runs))
        }
        const overdue = open.filter(({ deadline }) => deadline !== null && deadline <= now).sort(by('deadline'))
        assert.deepEqual(
          (await timeoutsDue(db, now, limit)).runs.map(({ record }) => record.deadlineAt),
          overdue.slice(0, limit).map((run) => run.deadline),
        )
        assert.deepEqual(numbers((await timeoutsDue(db, now, 100)).runs).sort(), numbers(overdue).sort())

        const started = due.filter((run) => run.next !== null && Number(run.due) > after)
        assert.deepEqual(
          new Set(await delayedDue(db, after, now)),
          new Set(started.map(({ destination }) => destination)),
        )
        const coming = open.filter((run) => run.next !== null && Number(run.due) > after).map(({ due }) => Number(due))
        const deadlines = open.flatMap(({ deadline }) => deadline ?? [])
        const next = Math.min(...coming, ...deadlines)
        assert.equal(await nextDue(db, after), Number.isFinite(next) ? next : null)

        assert.deepEqual(
          await waitingCounts(
            db,
            Array.from({ length: DESTINATIONS }, (_, n) => n + 1),
          ),
          new Map([...Map.groupBy(scheduled, ({ destination }) => destination)].map(([id, some]) => [id, some.length])),
        )

        // Last, since on PostgreSQL it takes them.
        const [destination = 1] = ids
        const expected = numbers(due.filter((run) => run.destination === destination).sort(by('due')))
        const [excluded] = expected
        const exclude = excluded === undefined ? [] : [excluded]
        const taken = await take(db, destination, now, { exclude, limit })
        assert.deepEqual(numbers(taken), expected.slice(1, limit + 1))
        if (excluded !== undefined)
          assert.deepEqual(numbers(await take(db, destination, now, { only: excluded })), exclude)
      }),
      { numRuns: engine === 'sqlite' ? 200 : 40 },
    )
  })

  test('nothing is missed and nothing comes twice, whoever takes in small steps', async () => {
    const db = await open()
    const runs = await startMany(
      db,
      Array.from({ length: 53 }, (_, n) => ({ at: 1_000 + (n % 7) })),
    )
    const [{ destinationId } = { destinationId: 0 }] = runs
    const taken: number[] = []
    for (;;) {
      const some = await take(db, destinationId, 2_000, { limit: 10, exclude: taken })
      if (some.length === 0) break
      assert.ok(some.length <= 10, 'no more than asked for')
      taken.push(...some.map(({ runNumber }) => runNumber))
    }
    const byAge = runs.toSorted((a, b) => a.record.createdAt - b.record.createdAt || a.runNumber - b.runNumber)
    assert.deepEqual(
      taken,
      byAge.map(({ runNumber }) => runNumber),
    )
  })

  test('a run is given as it is stored, and again only after what came of it allows it', async () => {
    const db = await open()
    const run = await start(db, { timeoutMicros: 90_000 })
    const [taken] = await take(db, run.destinationId, 1_000)
    assert.deepEqual(slim(taken), run)
    await store(db, [settlementOf(run, RETRYABLE, 2_000)])
    for (const only of [undefined, run.runNumber]) {
      assert.deepEqual(await take(db, run.destinationId, 9_000, { only }), [])
    }
    assert.deepEqual(await destinationsDue(db, 0, 10, 9_000), [])
    const [over] = (await backoffsDue(db, 2_010, 10)).runs
    assert.ok(over)
    assert.deepEqual(await backoffsDue(db, 2_009, 10), { runs: [], next: null })
    const scheduled = await live(db, over, [{ kind: 'backoff_due' }, 2_010])
    const [again] = await take(db, run.destinationId, 2_010)
    assert.deepEqual({ ...slim(again), destination: scheduled.destination }, scheduled)
  })

  test('a small input comes along, a large one has to be read', async () => {
    const db = await open()
    const [small] = await startMany(db, [
      { completion: Buffer.alloc(4_096, 1) },
      { completion: Buffer.alloc(4_097, 1) },
      { callback: Buffer.alloc(4_097, 1) },
    ])
    const taken = await take(db, small?.destinationId ?? 0, 2_000)
    assert.deepEqual(
      taken.map(({ input }) => input && [Buffer.from(input.callback).toString(), input.completion.length]),
      [['callback', 4_096], undefined, undefined],
    )
    assert.deepEqual(
      taken.map(({ completionBytes }) => completionBytes),
      [4_096, 4_097, 10],
    )
  })

  test('claims of two processes never overlap', { skip: engine === 'sqlite' }, async () => {
    const db = await open()
    const other = await openAgain(db)
    const runs = await startMany(
      db,
      Array.from({ length: 300 }, () => ({})),
    )
    const [{ destinationId } = { destinationId: 0 }] = runs
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        take(n % 2 ? db : other, destinationId, 2_000, { limit: 10, owner: `process ${n % 2}` }),
      ),
    )
    const taken = claims.flat().map(({ runNumber }) => runNumber)
    assert.equal(new Set(taken).size, taken.length)
    // A claim skips what another one is about to take; what is left comes at the next look.
    const rest = await take(db, destinationId, 2_000)
    assert.deepEqual(
      [...taken, ...rest.map(({ runNumber }) => runNumber)].sort((a, b) => a - b),
      runs.map(({ runNumber }) => runNumber),
    )
    assert.deepEqual(await take(other, destinationId, 2_000), [])
  })

  test('what a process left behind is found when its lease is over', { skip: engine === 'sqlite' }, async () => {
    const db = await open()
    const run = await start(db)
    await take(db, run.destinationId, 2_000, { owner: 'gone' })
    assert.deepEqual(await take(db, run.destinationId, 2_099), [])
    assert.deepEqual(await destinationsDue(db, 0, 10, 2_099), [])
    assert.equal(await nextDue(db, 2_000), 2_100)
    assert.deepEqual(await delayedDue(db, 2_000, 2_100), [run.destinationId])
    assert.deepEqual(await destinationsDue(db, 0, 10, 2_100), [run.destinationId])
    assert.deepEqual((await take(db, run.destinationId, 2_100)).map(slim), [run])
  })

  test('what is given back is taken by whoever looks first', { skip: engine === 'sqlite' }, async () => {
    const db = await open()
    const [one, two] = await startMany(db, [{}, {}])
    assert.ok(one && two)
    await take(db, one.destinationId, 2_000, { owner: 'first' })
    const give = (owner: string) =>
      db.write((tx) => releaseLeases(tx, owner, [one.runNumber, two.runNumber], 2_001), SHARED)
    assert.equal(await give('second'), 0)
    assert.equal(await give('first'), 2)
    assert.deepEqual((await take(db, one.destinationId, 2_001, { owner: 'second' })).map(slim), [one, two])
    assert.equal(await give('first'), 0)
  })

  test('a process gives back, holds on to and is counted by others for these runs and no others', {
    skip: engine === 'sqlite',
  }, async () => {
    const db = await open()
    const [one, two, three, elsewhere] = await startMany(db, [{}, {}, {}, { destination: 'https://other.example.org' }])
    assert.ok(one && two && three && elsewhere)
    await start(db, { startDelayMicros: 1_500 }) // nobody has that
    const { destinationId } = one
    await take(db, destinationId, 2_000)
    await take(db, elsewhere.destinationId, 2_000)
    assert.equal(await db.write((tx) => releaseLeases(tx, 'me', [one.runNumber], 2_001), SHARED), 1)
    await db.write((tx) => extendLease(tx, 'me', two.runNumber, 3_000), SHARED)
    await db.write((tx) => extendLease(tx, 'other', three.runNumber, 3_000), SHARED)
    const counts = (now: number, until: number, owner = 'other') =>
      leasedByOthers(db, [destinationId], { owner, now, until })
    assert.deepEqual(await counts(2_001, 3_000), new Map([[destinationId, 2]]))
    assert.deepEqual(await counts(2_001, 3_000, 'me'), new Map())
    assert.deepEqual(await counts(2_001, 2_999), new Map([[destinationId, 1]]))
    assert.deepEqual(await counts(2_100, 3_000), new Map([[destinationId, 1]]))
    assert.deepEqual(await counts(3_000, 4_000), new Map())
    assert.deepEqual((await take(db, destinationId, 2_100)).map(slim), [one, three])
  })

  test('what was due before the clock was set back is due now, except what another process has taken', async () => {
    const db = await open()
    const [plain, delayed] = await startMany(db, [{ at: 9_000 }, { at: 9_000, startDelayMicros: 500 }, { at: 1_000 }])
    assert.ok(plain && delayed)
    assert.equal((await take(db, plain.destinationId, 2_000)).length, 1)
    assert.equal(await db.write((tx) => clampDue(tx, 2_000)), 1)
    assert.equal((await take(db, plain.destinationId, 2_000)).length, engine === 'sqlite' ? 2 : 1)
    // Those that were taken are leased until 2,100.
    assert.equal(await nextDue(db, 2_100), 9_500)
  })

  test('what was put off before the clock was set back by hours is put off as long from now on', async () => {
    const db = await open()
    const [ahead, now] = [9 * HOUR, 2 * HOUR]
    const runs = await startMany(db, [{ at: ahead }, { at: ahead }, { at: now }])
    for (const [index, failedAt] of [ahead, now, now].entries()) {
      await live(db, runs[index] as StoredRun, [RETRYABLE, failedAt])
    }
    const due = async () => times((await backoffsDue(db, 99 * HOUR, 9)).runs)
    assert.deepEqual(await due(), [now + 10, now + 10, ahead + 10])
    assert.equal(await db.write((tx) => clampDue(tx, now)), 1)
    assert.deepEqual(await due(), [now + 10, now + 10, now + 10])
  })

  test('what was put off anew at a start is not put off once more at the next one, which would shorten its time', async () => {
    const db = await open()
    const [ahead, now, day] = [9 * HOUR, 2 * HOUR, 24 * HOUR]
    const [failed] = await startMany(db, [{ at: ahead }, { at: ahead, startDelayMicros: 4 * HOUR }])
    await live(db, failed as StoredRun, [RETRYABLE, ahead])
    const backoff = sql`due_at = due_at + ${day}, next_attempt_at = next_attempt_at + ${day}`
    await db.write(({ query }) => sql`update callback_runs set ${backoff} where state = 3`.execute(query))
    const times = async () => {
      const { rows } = await sql<{ at: number }>`
        select next_attempt_at as at from callback_runs where due_at between next_attempt_at and next_attempt_at + 1
        order by run_number`.execute(db.query)
      return rows.map(({ at }) => Number(at))
    }
    assert.equal(await db.write((tx) => clampDue(tx, now)), 2)
    assert.deepEqual(await times(), [now + 10 + day, now + 4 * HOUR])
    assert.equal(await db.write((tx) => clampDue(tx, now + HOUR / 2)), 0)
    assert.deepEqual(await times(), [now + 10 + day, now + 4 * HOUR])
  })

  test('what was put off at its start before the clock was set back by hours is put off as long from now on', async () => {
    const db = await open()
    const [ahead, now, day] = [9 * HOUR, 2 * HOUR, 24 * HOUR]
    await startMany(db, [
      { at: ahead, startDelayMicros: 10 },
      { at: ahead, startDelayMicros: day },
      { at: now, startDelayMicros: day },
      { at: now + 5, startDelayMicros: 10 },
    ])
    const rows = () =>
      db.query.selectFrom('callback_runs').select(['due_at', 'next_attempt_at']).orderBy('run_number').execute()
    assert.equal(await db.write((tx) => clampDue(tx, now)), 2)
    assert.deepEqual(
      (await rows()).map(({ due_at, next_attempt_at }) => [due_at, next_attempt_at]),
      [
        [now + 11, now + 10],
        [now + day + 1, now + day],
        [now + day, now + day],
        [now + 15, now + 15],
      ],
    )
  })

  test('a short backoff or delay from before the clock was set back by an hour is as short from now on', async () => {
    const db = await open()
    const [now, ahead] = [2 * HOUR, 3 * HOUR - 60_000_000]
    const [failed] = await startMany(db, [{ at: ahead }, { at: ahead, startDelayMicros: 500 }])
    await live(db, failed as StoredRun, [RETRYABLE, ahead])
    assert.equal(await db.write((tx) => clampDue(tx, now)), 2)
    assert.deepEqual(times((await backoffsDue(db, 99 * HOUR, 9)).runs), [now + 10])
    assert.equal(await nextDue(db, now), now + 11)
    assert.deepEqual(await delayedDue(db, now, now + 501), [(failed as StoredRun).destinationId])
  })

  test('counting what waits ends at a number that says "more"', async () => {
    const db = await open()
    await addDestinations(db, 2)
    const row = { ...ORDINARY, state: 2, due: 5 }
    await fillRuns(db, [...Array(MOST_WAITING + 4).fill({ ...row, destination: 1 }), { ...row, destination: 2 }])
    assert.deepEqual(
      await waitingCounts(db, [1, 2, 3]),
      new Map([
        [1, MOST_WAITING],
        [2, 1],
      ]),
    )
    assert.deepEqual(await waitingCounts(db, []), new Map())
  })
})

async function pageByPage(db: Database, look: typeof timeoutsDue, now: number, limit: number): Promise<StoredRun[]> {
  const found: StoredRun[] = []
  for (let after: Due['next'] | undefined; after !== null; ) {
    const { runs, next }: Due = await look(db, now, limit, after)
    found.push(...runs)
    after = next
  }
  return found
}

function slim(run: WaitingRun | undefined): StoredRun | undefined {
  const { input: _, completionBytes: __, ...rest } = run ?? {}
  return rest as StoredRun
}

function times(runs: { record: { nextAttemptAt: number | null } }[]) {
  return runs.map(({ record }) => record.nextAttemptAt)
}
