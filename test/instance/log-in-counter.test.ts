import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countLogIns, insertLogIns, readRecentLogIns } from '../../src/instance/numbers/store-log-ins.ts'
import { DAYS_PER_WEEK, dayOf } from '../../src/instance/numbers/weeks.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { adminWorld } from './admin-world.ts'

const WEEK_MS = DAYS_PER_WEEK * 86_400_000

/** The administrator and two users, who were all there today, as far as `numbers` was told. */
async function busyWorld(db: Database) {
  const world = await adminWorld(db, {}, new FakeClock('2030-05-15T12:00:00Z'))
  const { clock, keeper, logIns, numbers, users, operator } = world
  const person = async (email: string) => (await users.create(operator, { email, vouchedFor: true })).id
  return {
    ...world,
    ada: await person('ada@example.org'),
    bob: await person('bob@example.org'),
    async logIn(...ids: UserId[]): Promise<void> {
      for (const id of ids) logIns.recordUser(id, clock.now())
      await logIns.flush()
    },
    /** Counting takes so long. */
    async active({
      takesMs,
      cache = { counter_seconds: 5 },
    }: {
      takesMs: number
      cache?: { counter_seconds: number }
    }) {
      const read = await db.read(async (snapshot) => {
        const settings = { ...(await keeper.effectiveSettings(snapshot)), cache }
        return numbers.readNumbers(slow(snapshot, clock, takesMs), settings, 1)
      })
      const { userCount, activeMonth, activeHalfyear, weeks } = read
      return { userCount, activeMonth, activeHalfyear, logins: weeks[0]?.logins }
    },
  }
}

/** The first that is read by it takes so long. */
function slow(reader: Reader, clock: FakeClock, takesMs: number): Reader {
  let leftMs = takesMs
  return new Proxy(reader, {
    get(target, name) {
      if (name === 'query') {
        void clock.advance(leftMs)
        leftMs = 0
      }
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

eachDatabase('counting who was there', ({ open }) => {
  test('happens in parts where users are many, and others have their turn after each', async () => {
    const { db, clock, ada, bob } = await busyWorld(await open())
    const today = dayOf(clock.now())
    const days = { monday: today - 2, month: today - 28, halfyear: today - 168 }
    const rows = ['nobody-1', ada, 'nobody-2', bob, 'nobody-3'].flatMap((user_id, place) => [
      { day: today - 1 - place, user_id },
      { day: today - 30, user_id },
    ])
    await db.write((tx) => insertLogIns(tx, [...rows, { day: today, user_id: ada }]))
    let isOthersTurn = false
    setImmediate(() => {
      isOthersTurn = true
    })
    const recent = await db.read((snapshot) => readRecentLogIns(snapshot, days, 2))
    assert.ok(isOthersTurn)
    assert.deepEqual(recent, { thisWeek: 2, activeMonth: 2, activeHalfyear: 2 })
    for (const atATime of [1, 2, 5, 100]) {
      const counted = await db.read(async (snapshot) => [
        await countLogIns(snapshot, today - 2, today, atATime),
        await countLogIns(snapshot, today - 40, today, atATime),
      ])
      assert.deepEqual(counted, [2, 5])
      assert.deepEqual(await db.read((snapshot) => readRecentLogIns(snapshot, days, atATime)), recent)
    }
  })

  test('is done again every time where it is quick', async () => {
    const { ada, bob, logIn, active } = await busyWorld(await open())
    await logIn(ada)
    assert.equal((await active({ takesMs: 0 })).activeMonth, 1)
    await logIn(bob)
    assert.equal((await active({ takesMs: 0 })).activeMonth, 2)
  })

  test('is done again after a while where it takes long, a minute at most', async () => {
    const { ada, bob, administratorId, logIn, active, clock } = await busyWorld(await open())
    await logIn(ada)
    await active({ takesMs: 1_000 })
    await logIn(bob)
    await clock.advance(23_000)
    const before = { userCount: 3, activeMonth: 1, activeHalfyear: 1, logins: 1 }
    assert.deepEqual(await active({ takesMs: 0 }), before)
    await clock.advance(1_000)
    const after = { userCount: 3, activeMonth: 2, activeHalfyear: 2, logins: 2 }
    assert.deepEqual(await active({ takesMs: 10_000 }), after)
    await logIn(administratorId)
    await clock.advance(49_000)
    assert.equal((await active({ takesMs: 0 })).activeMonth, 2)
    await clock.advance(1_000)
    assert.equal((await active({ takesMs: 0 })).activeMonth, 3)
  })

  test('is done again on another day, and whenever nothing is to be kept', async () => {
    const { ada, bob, administratorId, logIn, active, clock } = await busyWorld(await open())
    await logIn(ada)
    await active({ takesMs: 3_000 })
    await logIn(bob)
    assert.equal((await active({ takesMs: 0, cache: { counter_seconds: 0 } })).activeMonth, 2)
    await clock.advance(12 * 3_600_000 - 13_000)
    await active({ takesMs: 3_000 })
    await logIn(administratorId)
    assert.equal((await active({ takesMs: 0 })).activeMonth, 2)
    await clock.advance(10_000)
    assert.equal((await active({ takesMs: 0 })).activeMonth, 3)
  })

  test('never tells of more active users than there are users', async () => {
    const { ada, bob, administratorId, operator, users, logIn, active, clock } = await busyWorld(await open())
    await logIn(ada, bob, administratorId)
    await active({ takesMs: 10_000 })
    for (const userId of [ada, bob]) await users.disable(operator, { userId })
    const gone = { userCount: 1, activeMonth: 1, activeHalfyear: 1, logins: 3 }
    assert.deepEqual(await active({ takesMs: 0 }), gone)
    await clock.advance(60_000)
    assert.deepEqual(await active({ takesMs: 0 }), gone)
  })

  test('is done once for a week that is over, however long the server runs', async () => {
    const { db, clock, keeper, numbers, ada } = await busyWorld(await open())
    const readWeeks = () =>
      db.read(async (snapshot) => {
        const read = await numbers.readNumbers(snapshot, await keeper.effectiveSettings(snapshot), 1)
        return read.weeks.slice(1)
      })
    for (let week = 0; week < 14; week++) {
      await readWeeks()
      await clock.advance(WEEK_MS)
    }
    // Nobody can have been there in weeks that were over a week ago: who counts them again shows it.
    const today = dayOf(clock.now())
    const days = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((weeks) => ({ day: today - weeks * DAYS_PER_WEEK, user_id: ada }))
    await db.write((tx) => insertLogIns(tx, days))
    const logIns = (await readWeeks()).map(({ logins }) => logins)
    assert.deepEqual(logIns, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  })
})
