import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Database, Reader, ShardAddend, Transaction } from '../../src/platform/storage/database.ts'
import { type Statement, statement } from '../../src/platform/storage/statement.ts'
import { eachDatabase } from '../support/each-database.ts'
import { allItems, gate, openWithItems, put } from './storage-items.ts'

type Sums = Statement<ShardAddend, never>

/** Every run of it leaves a row, in the order in which they ran. */
const writeDown = (table: string): Sums =>
  statement(
    (_query, p) =>
      sql`insert into written (sum, shard, amount)
        values (${sql.lit(`${table} `)} || ${p('name')}, ${p('shard')}, ${p('amount')})`,
  )
const [first, second] = [writeDown('first'), writeDown('second')]

/** One row for each sum, whichever shard it is: all who add to it at once meet there. */
const addToItem: Sums = statement(
  (_query, p) =>
    sql`insert into items (id, value) values (${p('name')}, ${p('amount')})
      on conflict (id) do update set value = items.value + excluded.value`,
)

interface Written {
  sum: string
  shard: number
  amount: number
}

async function written(reader: Reader): Promise<Written[]> {
  return (await sql<Written>`select sum, shard, amount from written order by n`.execute(reader.query)).rows
}

const NAMES = Array.from({ length: 20 }, (_, n) => `sum ${n}`)

eachDatabase('sums', (context) => {
  const { engine } = context

  async function openWithWritten(): Promise<Database> {
    const db = await openWithItems(context)
    const number = sql.raw(engine === 'sqlite' ? 'integer primary key' : 'serial primary key')
    await db.write((tx) =>
      sql`create table written
        (n ${number}, sum text not null, shard integer not null, amount integer not null check (amount < 100))`.execute(
        tx.query,
      ),
    )
    return db
  }

  test('what a change adds to them is written once for each, at its end and in one order', async () => {
    const db = await openWithWritten()
    await db.write(async (tx) => {
      for (const name of ['b', 'z', 'a', 'b', 'C']) await tx.addToSum(second, { name, amount: 2 })
      for (const amount of [5, 6]) await tx.addToSum(first, { name: 'm', amount })
      await tx.addToSum(second, { name: 'z', amount: -2 })
      assert.deepEqual(await written(tx), [])
    })
    const rows = await written(db)
    assert.deepEqual(
      rows.map(({ sum, amount }) => [sum, amount]),
      [
        ['first m', 11],
        ['second C', 2],
        ['second a', 2],
        ['second b', 4],
      ],
    )
    assert.equal(new Set(rows.map(({ shard }) => shard)).size, 1)
  })

  test('whoever wants to read them inside a change has them written first, and what follows is written at the end', async () => {
    const db = await openWithWritten()
    const sums = async (reader: Reader) => (await written(reader)).map(({ sum, amount }) => [sum, amount])
    await db.write(async (tx) => {
      await tx.addToSum(first, { name: 'b', amount: 1 })
      await tx.addToSum(first, { name: 'b', amount: 1 })
      await tx.writeSums()
      assert.deepEqual(await sums(tx), [['first b', 2]])
      await tx.writeSums()
      await tx.addToSum(first, { name: 'b', amount: 3 })
      await tx.addToSum(first, { name: 'a', amount: 4 })
    })
    assert.deepEqual(await sums(db), [
      ['first b', 2],
      ['first a', 4],
      ['first b', 3],
    ])
    assert.equal(new Set((await written(db)).map(({ shard }) => shard)).size, 1)
  })

  test('one that cannot be added to undoes the whole change, also when nobody waits for it', async () => {
    const db = await openWithWritten()
    const tooMuch = async (tx: Transaction) => {
      await put(tx, 'a', 1)
      await tx.addToSum(first, { name: 'fine', amount: 1 })
      for (let n = 0; n < 2; n++) await tx.addToSum(first, { name: 'full', amount: 60 })
    }
    const isRefused = (error: Error) => /check constraint/i.test(error.message)
    await assert.rejects(db.write(tooMuch), isRefused)
    const going = db.write(async (tx) => {
      await tooMuch(tx)
      await tx.writeSums()
      await put(tx, 'b', 1)
    })
    await assert.rejects(going, isRefused)
    assert.deepEqual([...(await allItems(db)), ...(await written(db))], [])
  })

  test('a change that has ended adds nothing any more', async () => {
    const db = await openWithItems(context)
    const ended = await db.write(async (tx) => ({ tx }))
    await assert.rejects(ended.tx.addToSum(addToItem, { name: 'a', amount: 1 }), /has ended/)
    assert.equal((await allItems(db)).size, 0)
  })

  test('many changes that add to the same ones in different orders need no second try', async () => {
    const db = await openWithItems(context, { poolSize: 8 })
    let runs = 0
    const changes = Array.from({ length: 16 }, (_, n) =>
      db.write(
        async (tx) => {
          runs++
          for (const index of NAMES.keys()) {
            const name = NAMES[(index * (n % 2 === 0 ? 7 : 13) + n) % NAMES.length] as string
            await tx.addToSum(addToItem, { name, amount: 1 })
          }
        },
        { isolation: 'read committed' },
      ),
    )
    await Promise.all(changes)
    assert.equal(runs, changes.length)
    assert.deepEqual(new Set((await allItems(db)).values()), new Set([changes.length]))
  })

  // On SQLite one change waits for another anyway.
  if (engine === 'postgres') {
    test('whoever adds to one does not wait for a long change that did so before', async () => {
      const db = await openWithItems(context)
      const [added, mayEnd] = [gate(), gate()]
      const long = db.write(
        async (tx) => {
          for (const name of NAMES) await tx.addToSum(addToItem, { name, amount: 1 })
          await put(tx, 'long', 1)
          added.open()
          await mayEnd.opened
        },
        { isolation: 'read committed' },
      )
      await added.opened
      const short = db.write((tx) => tx.addToSum(addToItem, { name: 'sum 3', amount: 5 }))
      await short.finally(mayEnd.open)
      await long
      assert.equal((await allItems(db)).get('sum 3'), 6)
    })
  }
})
