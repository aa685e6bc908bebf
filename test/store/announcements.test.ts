import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Announcements } from '../../src/platform/storage/announcements.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'

const TOPIC = 'weather'

/** Counts what it is told; `arrived` when the first signal came in, whether it told something or not. */
class Counter {
  told = 0
  readonly changes: Announcements
  readonly arrived: Promise<void>

  constructor(db: Database) {
    this.changes = new Announcements(db, TOPIC)
    this.changes.listen(() => {
      this.told++
    })
    // Subscribed behind the announcements, so they have heard what this one has.
    this.arrived = new Promise((resolve) => db.subscribe(TOPIC, () => resolve()))
  }
}

/** All of the transaction that announcing needs. */
function unheard(tx: Transaction): Transaction {
  return { signal: (topic: string, body: string) => tx.signal(topic, body) } as Transaction
}

eachDatabase('announcements', ({ engine, open, openAgain }) => {
  test('a change is told once where it was made, and once to everybody else', async () => {
    const db = await open()
    const [here, beside] = [new Counter(db), new Counter(db)]
    // Another process on the same file of SQLite is a command, which keeps nothing.
    const there = engine === 'postgres' ? [new Counter(await openAgain(db))] : []
    const all = [here, beside, ...there]
    await db.write(async (tx) => here.changes.announce(tx))
    assert.equal(here.told, 1)
    await Promise.all(all.map(({ arrived }) => arrived))
    for (const { told } of all) assert.equal(told, 1)
  })

  test('after an outage, in which news may have been lost, everybody is told', async () => {
    const db = await open()
    const here = new Counter(db)
    // What those who listen get then: a signal without a body.
    await db.write(async (tx) => tx.signal(TOPIC))
    await here.arrived
    assert.equal(here.told, 1)
  })

  test('a change whose answer was lost is told once, by its signal, where it was made', async () => {
    const db = await open()
    const here = new Counter(db)
    await db.write(async (tx) => here.changes.announce({ ...unheard(tx), afterCommit: () => {} }))
    await here.arrived
    assert.equal(here.told, 1)
  })

  test('a signal that comes before the answer tells the change, and the answer does not tell it again', async () => {
    const db = await open()
    const here = new Counter(db)
    let answered = () => {}
    await db.write(async (tx) => {
      here.changes.announce({ ...unheard(tx), afterCommit: (callback) => (answered = callback) })
    })
    await here.arrived
    answered()
    assert.equal(here.told, 1)
  })

  test('a change that was undone is told to nobody', async () => {
    const db = await open()
    const [here, beside] = [new Counter(db), new Counter(db)]
    const undone = db.write(async (tx) => {
      here.changes.announce(tx)
      throw new Error('on purpose')
    })
    await assert.rejects(undone)
    await db.write(async (tx) => beside.changes.announce(tx))
    await Promise.all([here.arrived, beside.arrived])
    assert.deepEqual([here.told, beside.told], [1, 1])
  })
})
