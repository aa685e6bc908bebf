import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { type SharedChange, SharedTurns } from '../../src/knowledge/note/shared-turns.ts'
import { AppError, isAppError } from '../../src/platform/errors/app-error.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { statement } from '../../src/platform/storage/statement.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

const unavailable = postgresUnavailable()

describe('changes that take turns on PostgreSQL', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, () => {
  const clock = new FakeClock()
  let database: TestDatabase
  let db: Database
  let turns: SharedTurns<string>

  before(async () => {
    database = await createDatabase({ migrated: false })
    db = await openDatabase({ clock, log: silentLogger(), dataDir: tempDir(), poolSize: 4, databaseUrl: database.url })
    await db.write((tx) => sql`create table made (number int primary key, context text)`.execute(tx.query))
  })

  after(async () => {
    await db.close()
    await database.drop()
  })

  beforeEach(async () => {
    await db.write((tx) => sql`truncate made`.execute(tx.query))
    turns = new SharedTurns({ db, clock, key: 'some', begin: async () => 'shared' })
  })

  /** Inserts the number, then does the rest. */
  function inserting(number: number, rest: () => Promise<void> | void = () => {}): SharedChange<number, string> {
    const insert = async (tx: Transaction, context: string) => {
      await sql`insert into made values (${number}, ${context})`.execute(tx.query)
      await rest()
      return number
    }
    return { together: insert, alone: () => db.write((tx) => insert(tx, 'alone')) }
  }

  /** In the order in which they were made: the transaction of each, numbered from 0, and what it was begun with. */
  async function made() {
    const { rows } = await sql<{ number: number; context: string; transaction: string }>`
      select number, context, xmin::text as transaction from made order by xmin::text::bigint, number`.execute(db.query)
    const transactions = [...new Set(rows.map(({ transaction }) => transaction))]
    return rows.map(({ number, context, transaction }) => [number, context, transactions.indexOf(transaction)])
  }

  test('those that wait when their turn comes share a transaction, and each is told what came of it', async () => {
    assert.deepEqual(await Promise.all([1, 2, 3].map((number) => turns.make(inserting(number)))), [1, 2, 3])
    const rows = [1, 2, 3].map((number) => [number, 'shared', 0])
    assert.deepEqual(await made(), rows)
    assert.ok(turns.isIdle)
    assert.equal(await turns.make(inserting(4)), 4)
    assert.deepEqual(await made(), [...rows, [4, 'alone', 1]])
  })

  test('one that fails undoes no other one, and its failure is told to nobody else', async () => {
    const failing = inserting(2, () => {
      throw new AppError('conflict', 'It is taken')
    })
    const all = [inserting(1), failing, inserting(3), inserting(4)].map((change) => turns.make(change))
    const [first, second, third, fourth] = await Promise.allSettled(all)
    assert.deepEqual(
      [first, third, fourth].map((one) => one?.status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    )
    assert.ok(second?.status === 'rejected' && isAppError(second.reason, 'conflict'))
    assert.deepEqual(await made(), [
      [1, 'alone', 0],
      [3, 'alone', 1],
      [4, 'alone', 2],
    ])
  })

  test('so it is when the database refuses one', async () => {
    const all = [inserting(1), inserting(1), inserting(3)].map((change) => turns.make(change))
    const [first, second, third] = await Promise.allSettled(all)
    assert.deepEqual([first?.status, second?.status, third?.status], ['fulfilled', 'rejected', 'fulfilled'])
    assert.deepEqual(
      (await made()).map(([number]) => number),
      [1, 3],
    )
  })

  test('a transaction takes no more when it is old; who comes next is the first of the next one', async () => {
    const slow = (number: number) => inserting(number, () => clock.advance(number % 2 === 0 ? 25 : 0))
    await Promise.all([1, 2, 3, 4, 5].map((number) => turns.make(slow(number))))
    assert.deepEqual(await made(), [
      [1, 'shared', 0],
      [2, 'shared', 0],
      [3, 'shared', 1],
      [4, 'shared', 1],
      [5, 'alone', 2],
    ])
  })

  test('who waits already comes before who came meanwhile', async () => {
    const order: number[] = []
    const later: Promise<number>[] = []
    const slow = (number: number) =>
      inserting(number, async () => {
        order.push(number)
        if (number === 1) later.push(turns.make(slow(9)))
        if (number === 2) await clock.advance(25)
      })
    await Promise.all([1, 2, 3, 4].map((number) => turns.make(slow(number))))
    await Promise.all(later)
    assert.deepEqual(order, [1, 2, 3, 4, 9])
  })

  test('a transaction takes no more than some, however many wait', async () => {
    await Promise.all(Array.from({ length: 70 }, (_, number) => turns.make(inserting(number))))
    const counts = Map.groupBy(await made(), ([, , transaction]) => transaction)
    assert.deepEqual(
      [...counts.values()].map(({ length }) => length),
      [64, 6],
    )
  })

  test('some time after a failure they share a transaction again', async () => {
    const failing = inserting(0, () => {
      throw new AppError('conflict', 'It is taken')
    })
    const others = Array.from({ length: 20 }, (_, n) => inserting(n + 1))
    await Promise.allSettled([failing, ...others].map((change) => turns.make(change)))
    const shared = (await made()).filter(([, context]) => context === 'shared')
    assert.deepEqual(
      shared.map(([number]) => number),
      [16, 17, 18, 19, 20],
    )
  })

  test('one that is refused for want of something else than the database fails alone, too', async () => {
    const failing = inserting(2, () => {
      throw new AppError('unavailable', 'A provider does not answer right now')
    })
    const all = await Promise.allSettled([inserting(1), failing, inserting(3)].map((change) => turns.make(change)))
    assert.deepEqual(
      all.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
  })

  test('when the database is lost all of them are told so, and none is made again: it may have been committed', async () => {
    let runs = 0
    const change = (number: number) =>
      inserting(number, async () => {
        runs++
        if (number === 2) throw Object.assign(new Error('terminating connection'), { code: '57P01' })
      })
    const all = await Promise.allSettled([1, 2, 3].map((number) => turns.make(change(number))))
    assert.ok(all.every((one) => one.status === 'rejected' && isAppError(one.reason, 'unavailable')))
    assert.equal(runs, 2)
    assert.deepEqual(await made(), [])
    assert.equal(await turns.make(inserting(4)), 4)
  })

  test('so they are when one was refused before the database asked for all of them again', async () => {
    const asksAgain = statement(() => sql`do $$ begin raise sqlstate '40001'; end $$`)
    let runs = 0
    let alone = 0
    const change: SharedChange<void, string> = {
      async together(tx) {
        if (++runs > 1) throw Object.assign(new Error('terminating connection'), { code: '57P01' })
        await tx.send(asksAgain, {})
        throw new AppError('conflict', 'It is taken')
      },
      alone: async () => void alone++,
    }
    let isSettled = false
    const settled = Promise.allSettled([turns.make(change), turns.make(change)]).finally(() => {
      isSettled = true
    })
    // It is made again after a pause.
    for (; !isSettled; await nextTurn()) await clock.advance(1)
    assert.ok((await settled).every((one) => one.status === 'rejected' && isAppError(one.reason, 'unavailable')))
    assert.deepEqual([runs, alone], [2, 0])
  })

  test('after a failure they are made alone, but wait together for a database that does not answer', async () => {
    const refused = inserting(1, () => {
      throw new AppError('conflict', 'It is taken')
    })
    const away = new AppError('unavailable', 'Storage does not answer right now')
    let alone = 0
    const lost: SharedChange<number, string> = {
      together: () => Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' })),
      async alone() {
        alone++
        throw away
      },
    }
    const all = await Promise.allSettled([refused, lost, lost, lost, lost].map((change) => turns.make<unknown>(change)))
    assert.deepEqual(
      all.map((one) => one.status === 'rejected' && isAppError(one.reason, 'unavailable')),
      [false, true, true, true, true],
    )
    assert.equal(alone, 1)
  })
})
