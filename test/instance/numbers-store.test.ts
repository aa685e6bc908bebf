import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { KnownDomains } from '../../src/instance/domains/known-domains.ts'
import { isPublicName, readPeers } from '../../src/instance/domains/peers.ts'
import { LogInRecorder } from '../../src/instance/numbers/log-in-recorder.ts'
import { purgeNumbers, scheduleNumbersRetention } from '../../src/instance/numbers/retention.ts'
import { insertLogIns, logInDaysOf } from '../../src/instance/numbers/store-log-ins.ts'
import { dateOf, dayOf } from '../../src/instance/numbers/weeks.ts'
import { instancePersonalData } from '../../src/instance/personal-data.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { MIGRATIONS } from '../../src/platform/storage/migrations/index.ts'
import { addToTally, readTallies } from '../../src/platform/tally/store.ts'
import { countRegistrations } from '../../src/users/index.ts'
import { jobBench } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { counted } from '../support/identity.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { type AdminWorld, adminWorld } from './admin-world.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
// A Wednesday.
const START = '2030-05-15T12:00:00Z'

/** Every reading is after a change of an administrator. */
let version = 0

function worldAt(db: Database, start = START) {
  return adminWorld(db, {}, new FakeClock(start))
}

async function person({ users, operator }: AdminWorld, email: string): Promise<UserId> {
  return (await users.create(operator, { email, vouchedFor: true })).id
}

async function read({ db, numbers, keeper }: AdminWorld) {
  await numbers.settle()
  return db.read(async (snapshot) => numbers.readNumbers(snapshot, await keeper.effectiveSettings(snapshot), ++version))
}

async function logIn({ logIns, clock }: AdminWorld, userId: UserId): Promise<void> {
  logIns.record({ kind: 'user', userId, method: 'token' }, clock.now())
  await logIns.flush()
}

async function erase(world: AdminWorld, id: UserId): Promise<void> {
  const { organizationId } = world
  const person = { id, organizationId, email: 'ada@example.org', handle: 'ada@example.org', formerEmails: [] }
  await world.db.write(async (tx) => {
    for (const part of instancePersonalData(world)) await part.erase(tx, person)
  })
}

eachDatabase('numbers of the instance', ({ open }) => {
  test('a fresh server has one user who registered this week, and twelve weeks', async () => {
    const world = await worldAt(await open())
    const numbers = await read(world)
    assert.deepEqual(
      [numbers.userCount, numbers.statusCount, numbers.domainCount, numbers.activeMonth, numbers.activeHalfyear],
      [1, 0, 0, 0, 0],
    )
    assert.equal(numbers.weeks.length, 12)
    assert.deepEqual(numbers.weeks[0], {
      week: Date.parse('2030-05-13T00:00:00Z') / 1_000,
      statuses: 0,
      logins: 0,
      registrations: 1,
    })
    for (const { statuses, logins, registrations } of numbers.weeks.slice(1)) {
      assert.deepEqual([statuses, logins, registrations], [0, 0, 0])
    }
  })

  test('log-ins are different users in a week, however often they came', async () => {
    const world = await worldAt(await open())
    const [ada, bob] = [await person(world, 'ada@example.org'), await person(world, 'bob@example.org')]
    for (const user of [ada, ada, bob]) await logIn(world, user)
    await world.clock.advance(DAY_MS)
    await logIn(world, ada)
    await world.clock.advance(WEEK_MS)
    await logIn(world, ada)
    const numbers = await read(world)
    assert.deepEqual(
      numbers.weeks.slice(0, 3).map(({ logins }) => logins),
      [1, 2, 0],
    )
    assert.equal(numbers.activeMonth, 2)
    assert.deepEqual((await logInDaysOf(world.db, ada)).map(dateOf), ['2030-05-15', '2030-05-16', '2030-05-23'])
  })

  test('a week ends on Sunday at midnight in UTC, to the second', async () => {
    const world = await worldAt(await open(), '2030-05-19T23:59:59Z')
    const ada = await person(world, 'ada@example.org')
    await logIn(world, ada)
    await world.clock.advance(1_000)
    await logIn(world, ada)
    const { weeks } = await read(world)
    assert.deepEqual(
      weeks.slice(0, 2).map(({ week, logins }) => [week, logins]),
      [
        [Date.parse('2030-05-20T00:00:00Z') / 1_000, 1],
        [Date.parse('2030-05-13T00:00:00Z') / 1_000, 1],
      ],
    )
  })

  test('service accounts and the person at the machine itself do not log in', async () => {
    const world = await worldAt(await open())
    const { logIns, clock, administratorId } = world
    logIns.record({ kind: 'service_account', userId: administratorId, method: 'key_pair' }, clock.now())
    logIns.record({ kind: 'user', userId: administratorId, method: 'dev' }, clock.now())
    logIns.record({ kind: 'system', userId: null, method: 'cli' }, clock.now())
    assert.equal((await read(world)).weeks[0]?.logins, 0)
  })

  test('a user is written down once a day, whatever is asked', async () => {
    const world = await worldAt(await open())
    const { db, statements } = counted(world.db)
    const recorder = new LogInRecorder({ db, log: silentLogger() })
    const principal = { kind: 'user', userId: world.administratorId, method: 'session' } as const
    for (let n = 0; n < 1_000; n++) recorder.record(principal, world.clock.now())
    await recorder.flush()
    assert.equal(statements(), 1)
    await world.clock.advance(DAY_MS)
    for (let n = 0; n < 1_000; n++) recorder.record(principal, world.clock.now())
    await recorder.flush()
    assert.equal(statements(), 2)
    const again = new LogInRecorder({ db: world.db, log: silentLogger() })
    again.record(principal, world.clock.now())
    await again.flush()
    assert.equal((await logInDaysOf(world.db, world.administratorId)).length, 2, 'another process adds nothing')
  })

  test('who could not be written down is at the next request', async () => {
    const world = await worldAt(await open())
    let isBroken = true
    const db = new Proxy(world.db, {
      get: (target, name) => {
        if (name === 'write' && isBroken) return async () => Promise.reject(new Error('away'))
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const recorder = new LogInRecorder({ db, log: silentLogger() })
    const principal = { kind: 'user', userId: world.administratorId, method: 'token' } as const
    recorder.record(principal, world.clock.now())
    await recorder.flush()
    isBroken = false
    recorder.record(principal, world.clock.now())
    await recorder.flush()
    assert.equal((await logInDaysOf(world.db, world.administratorId)).length, 1)
  })

  test('users are those who are neither disabled nor service accounts; registrations stay when they go', async () => {
    const world = await worldAt(await open())
    const { users, operator } = world
    const ada = await person(world, 'ada@example.org')
    await users.create(operator, { email: 'pending@example.org' })
    await logIn(world, ada)
    assert.deepEqual([(await read(world)).userCount, (await read(world)).activeMonth], [3, 1])
    await users.disable(operator, { userId: ada })
    const numbers = await read(world)
    assert.deepEqual([numbers.userCount, numbers.activeMonth, numbers.weeks[0]?.registrations], [2, 0, 3])
    assert.equal(numbers.weeks[0]?.logins, 1, 'who was there was there')
  })

  test('active in the last 28 days, and in the last 24 weeks, today counted', async () => {
    const world = await worldAt(await open())
    const ada = await person(world, 'ada@example.org')
    await logIn(world, ada)
    const active = async () => {
      const { activeMonth, activeHalfyear } = await read(world)
      return [activeMonth, activeHalfyear]
    }
    await world.clock.advance(28 * DAY_MS)
    assert.deepEqual(await active(), [1, 1])
    await world.clock.advance(DAY_MS)
    assert.deepEqual(await active(), [0, 1])
    await world.clock.advance(140 * DAY_MS)
    assert.deepEqual(await active(), [0, 0])
  })

  test('anonymization leaves weekly numbers as they were, and no way back to the person', async () => {
    const world = await worldAt(await open())
    const { db, clock } = world
    const [ada, bob] = [await person(world, 'ada@example.org'), await person(world, 'bob@example.org')]
    for (let day = 0; day < 3; day++) {
      await logIn(world, ada)
      await logIn(world, bob)
      await clock.advance(DAY_MS)
    }
    const before = (await read(world)).weeks
    await erase(world, ada)
    assert.deepEqual((await read(world)).weeks, before)
    const rows = await db.query.selectFrom('log_in_days').selectAll().execute()
    assert.equal(rows.length, 6)
    assert.ok(!JSON.stringify(rows).includes(ada))
    const strangers = new Set(rows.map((row) => row.user_id).filter((id) => id !== bob))
    assert.equal(strangers.size, 1, 'one and the same stranger in all rows')
    // Version 7 would carry the time of the anonymization.
    assert.match([...strangers][0] ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    assert.equal((await read(world)).activeMonth, 1)
  })

  test('a row that was on its way during the anonymization is removed by the second round', async () => {
    const world = await worldAt(await open())
    const { db, clock } = world
    const ada = await person(world, 'ada@example.org')
    await logIn(world, ada)
    await erase(world, ada)
    await db.write(async (tx) => {
      await insertLogIns(tx, [{ day: dayOf(clock.now()), user_id: ada }])
      await tx.query.updateTable('users').set({ anonymized_at: clock.now() }).where('id', '=', ada).execute()
    })
    await erase(world, ada)
    assert.deepEqual(await logInDaysOf(db, ada), [])
    assert.equal((await read(world)).weeks[0]?.logins, 1)
  })

  test('a person gets to see on which days it was there', async () => {
    const world = await worldAt(await open())
    await logIn(world, world.administratorId)
    const { organizationId, administratorId: id } = world
    const part = instancePersonalData(world).find(({ name }) => name === 'log_in_days')
    const days = await part?.exportOf?.(world.db, { id, organizationId, email: '', handle: '' })
    assert.deepEqual([part?.name, days], ['log_in_days', ['2030-05-15']])
  })

  test('what is older than 26 weeks is removed, and nothing else', async () => {
    const world = await worldAt(await open())
    const { db, clock } = world
    const today = dayOf(clock.now())
    const [old, kept] = [today - 183, today - 182]
    await db.write(async (tx) => {
      await insertLogIns(
        tx,
        [old, kept].flatMap((day) => Array.from({ length: 700 }, (_, n) => ({ day, user_id: `u${n}` }))),
      )
      for (const day of [old, kept]) {
        for (const name of ['notes.created', 'users.created']) await addToTally(tx, `${name}:${dateOf(day)}`, 5)
      }
      await addToTally(tx, 'notes:1', 9)
    })
    await purgeNumbers(db, kept)
    const rows = await db.query.selectFrom('log_in_days').select('day').execute()
    assert.deepEqual([rows.length, new Set(rows.map(({ day }) => day))], [700, new Set([kept])])
    const names = ['notes.created', 'users.created'].flatMap((name) =>
      [old, kept].map((day) => `${name}:${dateOf(day)}`),
    )
    const tallies = await readTallies(db, [...names, 'notes:1'])
    assert.deepEqual([...tallies.values()], [0, 5, 0, 5, 9])
  })

  test('old rows go by themselves', async () => {
    const world = await worldAt(await open())
    const { db, clock } = world
    const bench = jobBench(db, { clock })
    scheduleNumbersRetention({ db, clock, jobs: bench.engine })
    await logIn(world, world.administratorId)
    await bench.turn()
    assert.equal((await logInDaysOf(db, world.administratorId)).length, 1)
    await clock.advance(183 * DAY_MS)
    await bench.turn()
    assert.deepEqual(await logInDaysOf(db, world.administratorId), [])
  })

  test('users from before this version count in the week in which they came, service accounts do not', async () => {
    const db = await open({ migrated: false })
    const options = { clock: new FakeClock(START), log: silentLogger() }
    await migrate(db, { ...options, migrations: MIGRATIONS.slice(0, 5) })
    await db.write(async (tx) => {
      await sql`insert into organizations (id, public_id, name, created_at, modified_at) values ('o', 'p', 'n', 1, 1)`.execute(
        tx.query,
      )
      for (const [n, at] of ['2030-05-14T23:59:59Z', '2030-05-15T00:00:00Z', '2030-05-15T09:00:00Z'].entries()) {
        for (const isService of [0, 1]) {
          const id = `u${n}${isService}`
          await sql`insert into users (id, organization_id, email, handle, status, service_account, created_at, modified_at)
            values (${id}, 'o', ${id}, ${id}, 'Active', ${isService}, ${Date.parse(at) * 1_000}, 1)`.execute(tx.query)
        }
      }
    })
    await migrate(db, options)
    const days = ['2030-05-14', '2030-05-15', '2030-05-16']
    assert.deepEqual(
      [...(await countRegistrations(db, days))],
      [
        ['2030-05-14', 1],
        ['2030-05-15', 2],
        ['2030-05-16', 0],
      ],
    )
  })

  test('domains are counted once, wherever they are known from', async () => {
    const world = await worldAt(await open())
    const { db, operator, keeper, settings } = world
    await settings.patch(operator, { peers: { declared: ['a.example.org'] } })
    await world.peers.add(operator, { domain: 'a.example.org' })
    await world.allows.add(operator, { domain: 'b.example.org' })
    await world.blocks.create(operator, { domain: 'b.example.org', rules: { severity: 'noop' } })
    await insertDestinations(db, ['https://b.example.org', 'http://c.example.org:8080', 'https://[2001:db8::1]'])
    const domains = new KnownDomains()
    const count = async (version: number) => domains.count(db, await keeper.current(), version)
    assert.equal(await count(1), 4)
    await insertDestinations(db, ['https://d.example.org'])
    assert.equal(await count(1), 5, 'hosts come without a change of an administrator')
    await world.peers.add(operator, { domain: 'e.example.org' })
    assert.equal(await count(2), 6)
  })

  test('peers come from the sources that are switched on, without blocked, private and own names, in order', async () => {
    const world = await worldAt(await open())
    const { db, operator, keeper, settings } = world
    const peers = async () => readPeers(db, await keeper.current(), 'kb.example.net:8443')
    for (const domain of [
      'b.example.org',
      'a.example.org',
      'localhost',
      'x.local',
      'kb.example.net',
      '192.0.2.1',
      'zip',
    ]) {
      await world.peers.add(operator, { domain })
    }
    await insertDestinations(db, ['https://hooks.example.org', 'https://never.example.org'])
    await db.write((tx) =>
      tx.query
        .updateTable('callback_destinations')
        .set({ last_success_at: 1 })
        .where('destination', '=', 'https://hooks.example.org')
        .execute(),
    )
    assert.deepEqual(await peers(), ['a.example.org', 'b.example.org'])
    await settings.patch(operator, { peers: { sources: ['callbacks'] } })
    assert.deepEqual(await peers(), ['hooks.example.org'])
    await settings.patch(operator, { peers: { sources: ['declared', 'callbacks'], declared: ['c.example.org'] } })
    await world.blocks.create(operator, { domain: 'a.example.org', rules: { severity: 'noop' } })
    await world.blocks.create(operator, { domain: 'example.org', rules: { severity: 'suspend' } })
    assert.deepEqual(
      await peers(),
      ['b.example.org', 'c.example.org', 'hooks.example.org'],
      'only exact names are left out',
    )
  })
})

test('names that mean nothing elsewhere are no peers', () => {
  for (const name of [
    'a.test',
    'a.example',
    'example',
    'x.home.arpa',
    'home.arpa',
    'a.onion',
    'b.internal',
    'c.invalid',
    'd.localhost',
  ]) {
    assert.equal(isPublicName(name), false, name)
  }
  for (const name of ['example.org', 'test.org', 'arpa.net', 'local.example.org'])
    assert.equal(isPublicName(name), true, name)
})

async function insertDestinations(db: Database, destinations: string[]): Promise<void> {
  await db.write((tx) =>
    tx.query
      .insertInto('callback_destinations')
      .values(
        destinations.map((destination) => ({
          namespace_id: 'n' as never,
          destination,
          concurrency: null,
          rps: null,
          last_success_at: null,
          last_failure_at: null,
          last_failure_message: null,
        })),
      )
      .execute(),
  )
}
