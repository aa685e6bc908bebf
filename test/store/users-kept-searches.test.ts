import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { FoundUsers } from '../../src/users/user/found-users.ts'
import { KeptSearches, MOST_SEARCHES, type Search } from '../../src/users/user/kept-searches.ts'
import { NumberSet } from '../../src/users/user/number-set.ts'
import { numbersOf } from '../../src/users/user/store-user-changes.ts'
import type { UserOrder } from '../../src/users/user/store-user-list.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'

eachDatabase('searches for users that are kept', ({ engine, open }) => {
  async function searches() {
    const db = await open()
    const { organizationId } = await installed(db)
    const kept = new KeptSearches({ engine, clock: new SystemClock() })
    const made: string[] = []
    const use = (key: string) => {
      const search: Search = {
        key,
        organizationId,
        find: async () => {
          made.push(key)
          return new FoundUsers(new NumberSet(), { mostKept: 1, stepLooks: 1 })
        },
        findAmong: async () => new Set(),
      }
      return kept.use(db, search, async ({ count }) => assert.equal(count, 0))
    }
    return { made, use }
  }

  test('those that find nobody are forgotten as well when there are too many', async () => {
    const { made, use } = await searches()
    await use('first')
    await use('first')
    assert.deepEqual(made, ['first'])
    for (let others = 0; others < MOST_SEARCHES; others++) await use(`other ${others}`)
    await use('first')
    assert.equal(made.filter((key) => key === 'first').length, 2)
    await use(`other ${MOST_SEARCHES - 1}`)
    assert.equal(made.length, MOST_SEARCHES + 2)
  })

  test('long questions count for what they take', async () => {
    const { made, use } = await searches()
    const long = 'x'.repeat(1_000_000)
    for (let each = 0; each < 20; each++) await use(`${each} ${long}`)
    await use(`0 ${long}`)
    await use(`19 ${long}`)
    assert.deepEqual(
      made.slice(20).map((key) => key.slice(0, 2)),
      ['0 '],
    )
  })

  /** Some users that were found, in small steps. */
  async function foundPeople(stepLooks: number) {
    const db = await open()
    const { users, operator, administratorId, organizationId } = await installed(db)
    const ids: string[] = [administratorId]
    for (const name of ['ada', 'grace', 'edsger']) {
      ids.push((await users.create(operator, { email: `${name}@example.org` })).id)
    }
    const numbers = new Set(await numbersOf(db, organizationId, ids))
    const everybody = new NumberSet()
    for (const number of numbers) everybody.add(number)
    const found = new FoundUsers(everybody, { mostKept: 10, stepLooks })
    const statuses = ['Active', 'Pending'] as const
    const runs = statuses.map((status) => ({ organizationId, status, serviceAccount: false }))
    const order: UserOrder = { sort: 'email', descending: false }
    const page = (listed: number) => found.page(db, { runs, order, offset: 0, limit: 10 }, listed)
    return { db, numbers, found, page }
  }

  test('others have their turn before each user who is put back into a list', async () => {
    const { db, numbers, found, page } = await foundPeople(10)
    const before = await page(numbers.size)
    const { turns } = await turnsDuring(() => found.follow(db, numbers, numbers))
    assert.ok(turns >= numbers.size, `${turns}`)
    assert.deepEqual(await page(numbers.size), before)
  })

  test('others have their turn while those who were found are put in order', async () => {
    const { numbers, page } = await foundPeople(1)
    // One for each who is looked up, but the first; the others while they are sorted.
    const { turns, result } = await turnsDuring(() => page(1_000_000))
    assert.ok(turns >= 2 * numbers.size, `${turns}`)
    const walked = await foundPeople(10)
    assert.deepEqual(result, await walked.page(0))
  })
})

/** How often everybody else could do something meanwhile. */
async function turnsDuring<T>(work: () => Promise<T>): Promise<{ turns: number; result: T }> {
  let turns = 0
  let counting = setImmediate(function count() {
    turns++
    counting = setImmediate(count)
  })
  const result = await work()
  clearImmediate(counting)
  return { turns, result }
}
