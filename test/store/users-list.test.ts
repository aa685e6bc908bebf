import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { RoleId } from '../../src/platform/auth/managed-roles.ts'
import type { UserStatus } from '../../src/platform/auth/tables.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { foldedText } from '../../src/platform/text/folded-text.ts'
import { addUserRole, insertRole, removeUserRole } from '../../src/users/role/store-roles.ts'
import { UserLister, type UserQuery } from '../../src/users/user/list-users.ts'
import { readFresh } from '../../src/users/user/read-fresh.ts'
import type { UserSort } from '../../src/users/user/store-user-list.ts'
import { indexUsers } from '../../src/users/user/store-user-search.ts'
import { insertUser, updateUser } from '../../src/users/user/store-users.ts'
import type { User } from '../../src/users/user/user.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type Identity, installed } from '../support/identity.ts'

const SORTS: UserSort[] = ['name', 'title', 'email', 'handle', 'status', 'created_at', 'modified_at', 'last_login_time']
const STATUSES: UserStatus[] = ['Active', 'Pending', 'Disabled']
// What a pattern language would take for more than it is, and what a careless comparison would put in the wrong place.
const WORDS = [
  'ada',
  'Ada',
  'b%b',
  'c_c',
  'd*d',
  '[e]',
  'f?f',
  '"g"',
  "h'h",
  'ÄÖ',
  'A\u0308o\u0308',
  '日本語',
  '🦊x',
  '\u{ffee}',
  '\\i',
  'zz',
]

// Of a table that is large for its memory, so that every way through the code is taken.
const LARGE = { small: 0, mostKept: 8, stepRows: 5, stepLooks: 3 }

interface Person extends User {
  roleIds: RoleId[]
}

const word = fc.constantFrom(...WORDS)
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((list) => list.join(' '))
const times = fc.integer({ min: 1, max: 5 })

function people(roles: RoleId[]) {
  return fc.array(
    fc.record({
      name: fc.option(words),
      title: fc.option(word),
      local: words,
      status: fc.constantFrom(...STATUSES),
      serviceAccount: fc.boolean(),
      createdAt: times,
      modifiedAt: times,
      lastLoginAt: fc.option(times),
      roleIds: fc.subarray(roles),
    }),
    { minLength: 20, maxLength: 60 },
  )
}

function queries(roles: RoleId[]) {
  return fc.record(
    {
      page: fc.record({ size: fc.integer({ min: 1, max: 30 }), number: fc.integer({ min: 0, max: 4 }) }),
      order: fc.record({ sort: fc.constantFrom(...SORTS), descending: fc.boolean() }),
      filter: fc.oneof(
        word,
        words,
        fc.constantFrom('@EXAMPLE', 'a', ' A ', '%', '_', '*', '  ', '\0', '\u001f', 'nobody'),
      ),
      statuses: fc.subarray(STATUSES, { minLength: 1 }),
      serviceAccount: fc.boolean(),
      roleIds: fc.subarray(roles, { minLength: 1 }),
    },
    { requiredKeys: ['page', 'order'] },
  )
}

eachDatabase('lists of users', ({ open }) => {
  for (const [size, limits] of Object.entries({
    small: {},
    large: LARGE,
  })) {
    test(`every filter, order and page agrees with a plain model, as for a ${size} table`, async () => {
      const db = await open()
      const identity = await installed(db)
      const roles = await makeRoles(identity, 3)
      await fc.assert(
        fc.asyncProperty(
          people(roles),
          fc.array(queries(roles), { minLength: 25, maxLength: 25 }),
          async (made, asked) => {
            const everybody = await replaceUsers(identity, made)
            // Some are in the search index, the others are not yet.
            if (db.engine === 'sqlite') await db.write((tx) => indexUsers(tx, 15))
            await renameSome(identity, everybody)
            const lister = new UserLister({ ...identity, limits })
            for (const query of asked) {
              const list = await db.read((snapshot) => lister.list(snapshot, identity.organizationId, query))
              const model = expected(everybody, query)
              const shown = list.users.map(({ id }) => id)
              assert.deepEqual(
                { total: list.total, filtered: list.filtered, users: shown },
                { total: everybody.length, filtered: model.length, users: pageOf(model, query).map(({ id }) => id) },
                JSON.stringify(query),
              )
            }
          },
        ),
        { numRuns: 6 },
      )
    })
  }

  test('somebody is found by name and address in whatever Unicode form they were typed', async () => {
    const db = await open()
    const { users, operator, ...identity } = await installed(db)
    await users.create(operator, { email: 'jose\u0301@example.org', name: 'Ju\u0308rgen' })
    const order = { sort: 'name', descending: false } as const
    for (const filter of ['jos\u00e9@', 'jose\u0301@', 'j\u00fcrgen', 'JU\u0308RGEN']) {
      const query = { page: { size: 10, number: 0 }, order, filter }
      const lister = new UserLister(identity)
      const list = await db.read((snapshot) => lister.list(snapshot, identity.organizationId, query))
      assert.equal(list.filtered, 1, filter)
    }
  })

  test('a change is in the next list, also when the one before was remembered', async () => {
    const db = await open()
    const identity = await installed(db)
    const [roleId] = (await makeRoles(identity, 1)) as [RoleId]
    const lister = new UserLister({ ...identity, limits: { small: 0, mostKept: 1 } })
    const count = async (query: Partial<UserQuery>) => {
      const whole = { page: { size: 10, number: 0 }, order: { sort: 'name', descending: false }, ...query } as UserQuery
      return (await db.read((snapshot) => lister.list(snapshot, identity.organizationId, whole))).filtered
    }
    const { users, operator } = identity
    for (const expectedCount of [1, 2, 3]) {
      assert.equal(await count({ filter: 'example' }), expectedCount)
      assert.equal(await count({ filter: 'example' }), expectedCount)
      const user = await users.create(operator, { email: `u${expectedCount}@example.org` })
      await users.addRole(operator, { userId: user.id, roleId })
      assert.equal(await count({ roleIds: [roleId], statuses: ['Pending'] }), expectedCount)
      assert.equal(await count({ roleIds: [roleId, roleId] }), expectedCount)
    }
  })

  for (const [size, limits] of Object.entries({ small: {}, large: { ...LARGE, mostKept: 100 } })) {
    test(`what is remembered follows every change, as for a ${size} table`, async () => {
      const db = await open()
      const identity = await installed(db)
      const { users, operator } = identity
      const [one, two] = (await makeRoles(identity, 2)) as [RoleId, RoleId]
      const remembering = new UserLister({ ...identity, limits })
      const random = fc.sample(fc.nat(), { numRuns: 400, seed: 7 }).values()
      const pick = <T>(list: readonly T[]) => list[(random.next().value ?? 0) % list.length] as T
      const order: UserQuery['order'] = { sort: 'name', descending: false }
      const asked: UserQuery[] = [
        { order, page: { size: 5, number: 0 }, filter: 'ada' },
        { order, page: { size: 5, number: 2 }, filter: 'ada' },
        { order: { sort: 'modified_at', descending: true }, page: { size: 9, number: 0 }, filter: 'ada' },
        { order, page: { size: 5, number: 1 }, filter: 'a', statuses: ['Active', 'Disabled'] },
        { order, page: { size: 5, number: 0 }, filter: 'example', roleIds: [one] },
        { order, page: { size: 5, number: 1 }, roleIds: [one, two] },
      ]
      const made: User[] = []
      for (let change = 0; change < 60; change++) {
        const user = pick(made)
        const kind = user === undefined ? 'create' : pick(['create', 'create', 'rename', 'status', 'add', 'remove'])
        if (kind === 'create')
          made.push(await users.create(operator, { email: `u${change}@example.org`, name: pick(WORDS) }))
        else if (kind === 'rename') await users.update(operator, { userId: user.id, name: pick(WORDS) })
        else if (kind === 'add') await users.addRole(operator, { userId: user.id, roleId: pick([one, two]) })
        else if (kind === 'remove') await users.removeRole(operator, { userId: user.id, roleId: pick([one, two]) })
        else if (!(await users.disable(operator, { userId: user.id }))) {
          await users.enable(operator, { userId: user.id, vouchedFor: true })
        }
        const fresh = new UserLister({ ...identity, limits })
        for (const query of asked) {
          const [remembered, read] = await db.read(async (snapshot) => [
            await remembering.list(snapshot, identity.organizationId, query),
            await fresh.list(snapshot, identity.organizationId, query),
          ])
          assert.deepEqual(remembered, read, `${kind} ${JSON.stringify(query)}`)
        }
      }
    })
  }

  test('a list that was begun before a change is read again when the change is already remembered', async () => {
    const db = await open()
    const identity = await installed(db)
    const lister = new UserLister(identity)
    const query: UserQuery = {
      page: { size: 10, number: 0 },
      order: { sort: 'name', descending: false },
      filter: 'later',
    }
    let tries = 0
    const list = await readFresh(db, async (snapshot) => {
      await snapshot.query.selectFrom('users').select('id').execute()
      if (tries++ === 0) {
        await identity.users.create(identity.operator, { email: 'later@example.org' })
        await db.read((newer) => lister.list(newer, identity.organizationId, query))
      }
      return lister.list(snapshot, identity.organizationId, query)
    })
    assert.deepEqual([tries, list.filtered, list.users.length], [2, 1, 1])
  })

  test('what is remembered is given up when the log has lost the events that it followed', async () => {
    const db = await open()
    const identity = await installed(db)
    const lister = new UserLister(identity)
    const query: UserQuery = {
      page: { size: 10, number: 0 },
      order: { sort: 'name', descending: false },
      filter: 'example',
    }
    const count = async () =>
      (await readFresh(db, (snapshot) => lister.list(snapshot, identity.organizationId, query))).filtered
    const before = await count()
    await identity.users.create(identity.operator, { email: 'ada@example.org' })
    assert.equal(await count(), before + 1)
    await db.write((tx) => tx.query.deleteFrom('audit_events').execute())
    assert.equal(await count(), before + 1)
  })

  test('members of a role are counted by themselves', async () => {
    const db = await open()
    const identity = await installed(db)
    const [roleId] = (await makeRoles(identity, 1)) as [RoleId]
    const user = await identity.users.create(identity.operator, {
      email: 'a@example.org',
      name: 'Ada',
      roleIds: [roleId],
    })
    const query: UserQuery = {
      page: { size: 10, number: 0 },
      order: { sort: 'email', descending: false },
      memberOf: roleId,
    }
    const lister = new UserLister(identity)
    const list = (filter?: string) =>
      db.read((snapshot) => lister.list(snapshot, identity.organizationId, { ...query, filter }))
    const all = await list()
    assert.deepEqual([all.total, all.filtered, all.users[0]?.id], [1, 1, user.id])
    const none = await list('nobody')
    assert.deepEqual([none.total, none.filtered, none.users], [1, 0, []])
  })
})

async function makeRoles({ db, clock, organizationId }: Identity, count: number): Promise<RoleId[]> {
  const ids = Array.from({ length: count }, () => newId<'Role'>())
  await db.write(async (tx) => {
    for (const id of ids) {
      const at = clock.now()
      const role = {
        id,
        organizationId,
        name: id,
        managed: null,
        receivesPermissionsFrom: [],
        createdAt: at,
        modifiedAt: at,
      }
      await insertRole(tx, role)
    }
  })
  return ids
}

type Made = Awaited<ReturnType<typeof people>> extends fc.Arbitrary<infer T> ? T : never

/** The first administrator and these. Half of them are written as somebody else first and then changed. */
async function replaceUsers({ db, organizationId, administratorId }: Identity, made: Made): Promise<Person[]> {
  return db.write(async (tx) => {
    await tx.query.deleteFrom('user_roles').where('user_id', '<>', administratorId).execute()
    await tx.query.deleteFrom('users').where('id', '<>', administratorId).execute()
    await tx.query.deleteFrom('tallies').execute()
    const users: Person[] = []
    for (const [index, { roleIds, local, ...rest }] of made.entries()) {
      const email = `${local.replaceAll(' ', '.')}${index}@example.org`.toLowerCase()
      const user: User = {
        ...rest,
        id: newId<'User'>(),
        organizationId,
        email,
        handle: rest.serviceAccount ? 'robot' : email,
        verified: true,
        anonymizedAt: null,
        allowedLoginMethods: [],
      }
      const first: User = { ...user, name: 'Somebody', title: 'x', status: 'Pending', modifiedAt: 9, lastLoginAt: null }
      const isChanged = index % 2 === 1
      await insertUser(tx, isChanged ? first : user)
      for (const roleId of roleIds) await addUserRole(tx, user.id, roleId, 1)
      if (isChanged) await updateUser(tx, first, user)
      const dropped = index % 5 === 0 ? roleIds.slice(0, 1) : []
      for (const roleId of dropped) await removeUserRole(tx, user.id, roleId)
      users.push({ ...user, roleIds: roleIds.filter((id) => !dropped.includes(id)) })
    }
    return [...users, await administrator()]

    async function administrator(): Promise<Person> {
      const row = await tx.query
        .selectFrom('users')
        .selectAll()
        .where('id', '=', administratorId)
        .executeTakeFirstOrThrow()
      await tx.query
        .insertInto('tallies')
        .values({ name: `users ${organizationId} Active 0`, shard: 0, amount: 1 })
        .onConflict((conflict) =>
          conflict.columns(['name', 'shard']).doUpdateSet((eb) => ({ amount: eb('tallies.amount', '+', 1) })),
        )
        .execute()
      return {
        ...(row as never as User),
        createdAt: row.created_at,
        modifiedAt: row.modified_at,
        lastLoginAt: row.last_login_at,
        serviceAccount: false,
        roleIds: [],
      }
    }
  })
}

async function renameSome({ db, administratorId }: Identity, everybody: Person[]): Promise<void> {
  const renamed = everybody.filter(({ id }, index) => index % 3 === 0 && id !== administratorId)
  await db.write(async (tx) => {
    for (const person of renamed) {
      const before = { ...person }
      person.name = person.name === null ? 'Ada zz' : null
      await updateUser(tx, before, person)
    }
  })
}

function expected(everybody: Person[], query: UserQuery): Person[] {
  const text = foldedText((query.filter ?? '').trim())
  return everybody
    .filter((user) => [user.name ?? '', user.email, user.handle].some((field) => foldedText(field).includes(text)))
    .filter(({ status }) => query.statuses?.includes(status) ?? true)
    .filter(({ serviceAccount }) => query.serviceAccount === undefined || serviceAccount === query.serviceAccount)
    .filter(({ roleIds }) => query.roleIds?.some((id) => roleIds.includes(id)) ?? true)
    .sort((a, b) => (query.order.descending ? -1 : 1) * compare(a, b, query.order.sort))
}

function pageOf<T>(list: T[], { page }: UserQuery): T[] {
  return list.slice(page.size * page.number, page.size * (page.number + 1))
}

function compare(a: Person, b: Person, sort: UserSort): number {
  return compareValues(keyOf(a, sort), keyOf(b, sort)) || a.createdAt - b.createdAt || compareValues(a.id, b.id)
}

function keyOf(user: Person, sort: UserSort): string | number | null {
  switch (sort) {
    case 'created_at':
      return user.createdAt
    case 'modified_at':
      return user.modifiedAt
    case 'last_login_time':
      return user.lastLoginAt
    default:
      return user[sort]?.toLowerCase() ?? null
  }
}

/** By code points; null comes last. */
function compareValues(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'number' || typeof b === 'number') return (a as number) - (b as number)
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
