import assert from 'node:assert/strict'
import { existsSync, readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { MICROS_PER_MS, SystemClock } from '../../src/platform/clock/clock.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import type { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { SqliteConnection } from '../../src/platform/storage/sqlite-connection.ts'
import { statement } from '../../src/platform/storage/statement.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { startChild } from './start-child.ts'
import { openOver } from './storage-disk.ts'
import { allItems, gate, insertItem, itemValue, put } from './storage-items.ts'

const log = silentLogger()
// A writer that another process keeps waiting tries again so often.
const LOCK_RETRY_MS = 5

/** Its time passes by hand; its timers ring in real time. */
class HandClock extends SystemClock {
  #ms = 0

  pass(ms: number): void {
    this.#ms += ms
  }

  override elapsedMs(): number {
    return this.#ms
  }
}

describe('the one writer of SQLite', () => {
  const opened: Database[] = []
  after(() => Promise.all(opened.map((db) => db.close())))

  async function open(clock = new SystemClock() as FakeClock | SystemClock) {
    const dataDir = tempDir()
    const db = await openDatabase({ dataDir, clock, log })
    opened.push(db)
    await db.write((tx) => sql`create table items (id text primary key, value bigint not null)`.execute(tx.query))
    return { db, dataDir, place: { dataDir, databaseUrl: null } }
  }

  /** Moves the clock until the promise settles. */
  async function advanceUntil<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
    let settled = false
    promise.then(
      () => (settled = true),
      () => (settled = true),
    )
    for (let n = 0; !settled && n < 3_000; n++) await clock.advance(10)
    return promise
  }

  test('an operation that waits for something else is refused, and delays the others for a moment only', async () => {
    const clock = new FakeClock()
    // A real disk takes real time, in which this clock would go on.
    const db = await openOver(opened, async () => {}, clock)
    const never = gate()
    const stalled = db.write(async (tx) => {
      await put(tx, 'stalled', 1)
      await never.opened
    })
    const refusal = stalled.then(
      () => 'done',
      (error: unknown) => error,
    )
    const others = Promise.all(Array.from({ length: 10 }, (_, n) => db.write((tx) => put(tx, `${n}`, n))))
    const before = clock.elapsedMs()
    await advanceUntil(clock, others)
    assert.ok(clock.elapsedMs() - before < 100, `${clock.elapsedMs() - before} ms`)
    assert.ok(isAppError(await advanceUntil(clock, refusal), 'internal'))
    await advanceUntil(
      clock,
      db.write((tx) => put(tx, 'after', 1)),
    )
    assert.equal((await allItems(db)).has('stalled'), false)
    assert.equal((await allItems(db)).size, 11)
  })

  test('a long operation does not hold up the short ones that came with it', async () => {
    const clock = new HandClock()
    const { db } = await open(clock)
    const order: string[] = []
    let tries = 0
    const long = db.write(async (tx) => {
      clock.pass(30)
      if (++tries === 1) await gate().opened
      await put(tx, 'long', 1)
    })
    // More than one commit takes.
    const short = Array.from({ length: 50 }, (_, n) =>
      db
        .write((tx) => {
          clock.pass(1)
          return put(tx, `short ${n}`, n)
        })
        .then(() => order.push('short')),
    )
    await Promise.all([long.then(() => order.push('long')), ...short])
    assert.equal(order.indexOf('long'), 50)
  })

  test('an operation is not taken for a waiting one because a query of its own took long', async () => {
    const clock = new HandClock()
    const { db } = await open(clock)
    const slow = {
      get id() {
        clock.pass(3_000)
        // Without a turn of the event loop, until every timer that was set before is overdue.
        for (const end = performance.now() + 30; performance.now() < end; );
        return 'slow'
      },
      value: 1,
    }
    await db.write(
      async (tx) => {
        await tx.run(insertItem, slow)
        await tx.run(insertItem, { id: 'next', value: 2 })
      },
      { alone: true },
    )
    assert.equal((await allItems(db)).size, 2)
  })

  test('an operation that works for long without a query, and breathes, is not taken for a waiting one', async () => {
    const clock = new HandClock()
    const { db } = await open(clock)
    await db.write(
      async (tx) => {
        for (let n = 0; n < 4; n++) {
          clock.pass(1_500)
          // Until whoever looks for waiting ones is overdue.
          for (const end = performance.now() + 30; performance.now() < end; );
          await tx.breathe()
        }
        await put(tx, 'worked', 1)
      },
      { alone: true },
    )
    assert.equal((await allItems(db)).size, 1)
  })

  test('an operation that was put off is not answered with the failure of those it came with', async () => {
    const { db } = await open()
    // After a failure the next commits go step by step.
    await assert.rejects(db.write(() => Promise.reject(new Error('on purpose'))))
    // Noticed by the commit only.
    await db.write((tx) =>
      sql`create table parts (item text references items deferrable initially deferred)`.execute(tx.query),
    )
    const unfit = db.write((tx) => sql`insert into parts values ('nobody')`.execute(tx.query))
    let tries = 0
    const putOff = db.write(async (tx) => {
      if (++tries === 1) await gate().opened
      await put(tx, 'put off', 1)
    })
    await assert.rejects(unfit, /constraint/)
    await putOff
    assert.equal(await itemValue(db, 'put off'), 1)
  })

  test('a reading that a change gave up half-way does not stand in the way of the next change', async () => {
    const { db, dataDir } = await open()
    await db.write(async (tx) => {
      await put(tx, 'a', 1)
      await put(tx, 'b', 2)
    })
    await db.write(async (tx) => {
      const rows = tx.query
        .selectFrom('items' as never)
        .selectAll()
        .stream()
      for await (const _row of rows) break
    })
    const beside = await openDatabase({ dataDir, clock: new SystemClock(), log })
    await beside.write((tx) => put(tx, 'c', 3))
    await beside.close()
    await db.write((tx) => put(tx, 'd', 4))
    assert.equal((await allItems(db)).size, 4)
  })

  test('those who wait for a process that never lets go are all told so at once', async () => {
    const clock = new FakeClock()
    const { db, place } = await open(clock)
    const child = startChild({ place, do: 'hold write lock' })
    assert.equal(await child.nextLine(), 'ready')
    const began = clock.elapsedMs()
    const writes = Promise.allSettled([1, 2, 3].map((n) => db.write((tx) => put(tx, `${n}`, n))))
    for (const result of await advanceUntil(clock, writes)) {
      assert.ok(result.status === 'rejected' && isAppError(result.reason, 'unavailable'))
    }
    assert.ok(clock.elapsedMs() - began < 15_000, `${clock.elapsedMs() - began} ms`)
    child.letGo()
    assert.equal(await child.ended, 0)
    await db.write((tx) => put(tx, 'after', 1))
  })

  test('snapshots that could not be opened leave room for those that can', async () => {
    const { db } = await open()
    const { file } = db as SqliteDatabase
    renameSync(file, `${file}.away`)
    for (let n = 0; n < 10; n++) {
      await assert.rejects(
        db.read((snapshot) => allItems(snapshot)),
        (error) => isAppError(error, 'unavailable'),
      )
    }
    renameSync(`${file}.away`, file)
    assert.equal((await db.read((snapshot) => allItems(snapshot))).size, 0)
  })

  test('where no further snapshot can be opened, the next waits for one that is', async () => {
    const { db } = await open()
    const { file } = db as SqliteDatabase
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    const first = db.read(async (snapshot) => {
      await allItems(snapshot)
      await held
    })
    renameSync(file, `${file}.away`)
    const second = db.read((snapshot) => allItems(snapshot))
    letGo()
    await first
    assert.equal((await second).size, 0)
    renameSync(`${file}.away`, file)
  })

  test('the event loop turns while a long operation runs', async () => {
    const { db } = await open()
    let turns = 0
    let running = true
    const watch = (async () => {
      for (; running; turns++) await nextTurn()
    })()
    await db.write(
      async (tx) => {
        // Of work, not of waiting for others on the machine.
        const worked = () => process.threadCpuUsage().user / MICROS_PER_MS
        const began = worked()
        for (let n = 0; worked() - began < 300; n++) await tx.run(insertItem, { id: `${n}`, value: n })
      },
      { alone: true },
    )
    running = false
    await watch
    // It steps aside about every 10 of its 300 ms; one that does not would let the loop turn once, at its end.
    assert.ok(turns > 8, `${turns} turns`)
  })

  test('waits for another process that is writing, without stopping the event loop', async () => {
    const clock = new FakeClock()
    const { db, place } = await open(clock)
    const child = startChild({ place, do: 'hold write lock' })
    assert.equal(await child.nextLine(), 'ready')
    let written = false
    const write = db.write((tx) => put(tx, 'a', 1)).then(() => (written = true))
    for (let tries = 0; tries < 30; tries++) {
      await clock.untilSet(LOCK_RETRY_MS)
      assert.equal(written, false)
      await clock.advance(LOCK_RETRY_MS)
    }
    child.letGo()
    assert.equal(await child.ended, 0)
    await advanceUntil(clock, write)
    assert.equal(await itemValue(db, 'a'), 1)
    // Each of those tries was over at once: inside SQLite nobody waits.
    const { rows } = await db.write((tx) => sql<{ timeout: number }>`pragma busy_timeout`.execute(tx.query))
    assert.equal(rows[0]?.timeout, 0)
  })

  test('a command that waits for the writer beside it does not end before its write is done', async () => {
    // However long the command takes to start, nobody takes this one for a change that waits in vain.
    const { db, place } = await open(new HandClock())
    const { opened: finish, open: letGo } = gate()
    const started = gate()
    const holding = db.write(
      async (tx) => {
        await put(tx, 'mine', 1)
        started.open()
        await finish
      },
      { alone: true },
    )
    await started.opened
    const child = startChild({ place, do: 'write' })
    assert.equal(await child.nextLine(), 'ready')
    await new Promise((resolve) => setTimeout(resolve, 200))
    letGo()
    await holding
    assert.equal(await child.nextLine(), 'written')
    assert.equal(await child.ended, 0)
    assert.equal((await allItems(db)).size, 2)
  })

  test('a full disk is told as such, damages nothing, and is forgotten when there is space again', async () => {
    const { db } = await open()
    const limit = (pages: number) => db.write((tx) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(tx.query))
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db.query)
    await limit((rows[0]?.page_count as number) + 4)
    const big = 'x'.repeat(3_000)
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        db.write(async (tx) => {
          await put(tx, `${n} ${big}`, n)
          await put(tx, `${n} second ${big}`, n)
        }),
      ),
    )
    const failures = results.filter((result) => result.status === 'rejected')
    assert.ok(failures.length > 0)
    for (const { reason } of failures) {
      assert.ok(isAppError(reason, 'unavailable'))
      assert.match(reason.message, /disk .* is full: free some space/)
    }
    const acknowledged = results.flatMap((result, n) => (result.status === 'fulfilled' ? [n, n] : []))
    assert.deepEqual(
      [...(await allItems(db)).values()].sort((a, b) => a - b),
      acknowledged,
    )
    const check = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db.query)
    assert.equal(check.rows[0]?.integrity_check, 'ok')
    await limit(1_000_000)
    await db.write((tx) => put(tx, big, 1))
    assert.equal((await allItems(db)).size, acknowledged.length + 1)
  })

  test('a prepared statement for all columns knows those that a table got later', async () => {
    const { db } = await open()
    const every = statement<object, Record<string, unknown>>(() => sql`select items.*, 1 as last from items`)
    await db.write((tx) => put(tx, 'a', 1))
    assert.deepEqual(await db.write((tx) => tx.run(every, {})), [{ id: 'a', value: 1, last: 1 }])
    await db.write((tx) => sql`alter table items add column extra text`.execute(tx.query))
    const wider = [{ id: 'a', value: 1, extra: null, last: 1 }]
    assert.deepEqual(await db.write((tx) => tx.run(every, {})), wider)
    assert.deepEqual(await db.run(every, {}), wider)
  })

  const canCount = existsSync('/proc/self/fd')
  test('a connection that cannot be made keeps no file open', {
    skip: !canCount && 'open files are not listed here',
  }, () => {
    const file = `${tempDir()}/other.db`
    writeFileSync(file, 'This is no database, but long enough to be taken for one. '.repeat(100))
    for (const readOnly of [false, true])
      assert.throws(() => new SqliteConnection(file, { readOnly }), /not a database/)
    const isOpen = (descriptor: string) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(file)
      } catch {
        return false
      }
    }
    assert.deepEqual(readdirSync('/proc/self/fd').filter(isOpen), [])
  })

  test('a database that was closed is one file', async () => {
    const { db, dataDir } = await open()
    await db.write((tx) => put(tx, 'a', 1))
    await db.read((snapshot) => itemValue(snapshot, 'a'))
    assert.ok(existsSync(`${dataDir}/commonplace.db-wal`))
    await db.close()
    assert.deepEqual(readdirSync(dataDir), ['commonplace.db'])
    opened.splice(opened.indexOf(db), 1)
  })
})
