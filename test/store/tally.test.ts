import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Database } from '../../src/platform/storage/database.ts'
import { addToTally, dropTally, readTallies } from '../../src/platform/tally/store.ts'
import { eachDatabase } from '../support/each-database.ts'

eachDatabase('tallies', ({ open }) => {
  test('a change reads what it added itself, and others read it when it is done', async () => {
    const db = await open()
    await db.write(async (tx) => {
      await addToTally(tx, 'a', 2)
      await addToTally(tx, 'a', 3)
      assert.equal((await readTallies(tx, ['a'])).get('a'), 5)
      await addToTally(tx, 'a', -1)
      assert.equal((await readTallies(db, ['a'])).get('a'), 0)
    })
    assert.equal((await readTallies(db, ['a'])).get('a'), 4)
  })

  test('a tally that is dropped begins anew, also among changes that come at the same time', async () => {
    const db = await open()
    await db.write((tx) => addToTally(tx, 'a', 7))
    await Promise.all([
      db.write((tx) => addToTally(tx, 'b', 1)),
      db.write(async (tx) => {
        await addToTally(tx, 'a', 1)
        await dropTally(tx, 'a')
        await addToTally(tx, 'a', 2)
      }),
    ])
    assert.deepEqual([...(await readTallies(db, ['a', 'b'])).values()], [2, 1])
  })

  test('tallies are what the successful changes add up to, whichever fail among them', async () => {
    const db = await open()
    const sums = new Map<string, number>()
    const change = fc.record({
      name: fc.constantFrom('x', 'y'),
      amount: fc.integer({ min: -9, max: 9 }),
      fails: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
        await Promise.allSettled(changes.map((one) => attempt(db, one)))
        for (const { name, amount, fails } of changes) if (!fails) sums.set(name, (sums.get(name) ?? 0) + amount)
        for (const [name, amount] of await readTallies(db, ['x', 'y'])) assert.equal(amount, sums.get(name) ?? 0)
      }),
      { numRuns: 25 },
    )
  })
})

function attempt(db: Database, { name, amount, fails }: { name: string; amount: number; fails: boolean }) {
  return db.write(async (tx) => {
    await addToTally(tx, name, amount)
    if (fails) throw new Error('changed my mind')
  })
}
