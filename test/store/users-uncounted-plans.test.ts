import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { RoleId } from '../../src/platform/auth/managed-roles.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { revokeOpen } from '../../src/users/invitation/store-invitations.ts'
import { removeMembers, removeUserRole, someActiveAdministrators } from '../../src/users/role/store-roles.ts'
import { planOf, watchedQuery } from '../knowledge/watched-reader.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'

const USERS = 2_000
const OLD = 'role-old' as RoleId
const NEW = 'role-new' as RoleId

async function addRole(tx: Transaction, id: RoleId, upTo: number): Promise<void> {
  await sql`insert into roles (id, organization_id, name, created_at, modified_at)
    select ${id}, id, ${id}, 1, 1 from organizations`.execute(tx.query)
  await sql`insert into user_roles (user_id, role_id, created_at)
    select id, ${id}, 1 from users where id like 'u%' and number <= ${upTo}`.execute(tx.query)
}

/** Users that all have a role, as the statistics know, and many of them a new one since. */
async function fill(db: Database): Promise<void> {
  await db.write(
    async (tx) => {
      const ids = JSON.stringify(Array.from({ length: USERS }, (_, n) => `u${n}`))
      const list =
        tx.engine === 'sqlite' ? sql`json_each(${ids})` : sql`json_array_elements_text(${ids}::json) as l (value)`
      await sql`insert into users (id, organization_id, email, handle, status, created_at, modified_at)
        select value, (select id from organizations), value, value, 'Active', 1, 1 from ${list}`.execute(tx.query)
      await addRole(tx, OLD, Number.MAX_SAFE_INTEGER)
      if (tx.engine === 'postgres') await sql`analyze`.execute(tx.query)
      await addRole(tx, NEW, USERS / 2)
    },
    { alone: true },
  )
}

/** What is done, and the plan of each statement of it. */
async function plansOf(db: Database, work: (tx: Transaction) => Promise<unknown>): Promise<string[]> {
  return db.write(
    async (tx) => {
      const { query, statements } = watchedQuery(tx.query)
      const seeing = new Proxy(tx, {
        get(_, name: keyof Transaction) {
          if (name === 'query') return query
          const member = tx[name]
          return typeof member === 'function' ? member.bind(tx) : member
        },
      })
      await work(seeing)
      return Promise.all(
        statements
          .filter(({ sql: text }) => /^(delete|update|select "users")/.test(text))
          .map(async (seen) => `${seen.sql}\n${await planOf(tx, seen)}`),
      )
    },
    { alone: true },
  )
}

eachDatabase('a role that PostgreSQL has not counted', ({ open, engine }) => {
  test('is taken from its members without a look at the others', async () => {
    const db = await open()
    await installed(db)
    await fill(db)
    const plans = await plansOf(db, async (tx) => {
      assert.equal(await removeUserRole(tx, 'u7' as UserId, NEW), true)
      assert.equal(await removeUserRole(tx, 'u7' as UserId, NEW), false)
      assert.equal(await removeMembers(tx, NEW, 100), 100)
    })
    assert.equal(plans.length, 3)
    for (const plan of plans) {
      assert.match(plan, engine === 'sqlite' ? /SEARCH user_roles .*\buser_id=\?/ : /Index Cond: .*\buser_id = /, plan)
      assert.doesNotMatch(plan, /SCAN|Join/, plan)
    }
  })

  test('leaves who administers the server to be found by that role alone', async () => {
    const db = await open()
    const { organizationId } = await installed(db)
    await fill(db)
    const plans = await plansOf(db, async (tx) => {
      assert.equal((await someActiveAdministrators(tx, organizationId)).length, 1)
    })
    assert.equal(plans.length, 1)
    const [plan = ''] = plans
    assert.match(plan, engine === 'sqlite' ? /SEARCH user_roles .*\(role_id=\?/ : /Index Cond: \(role_id = /, plan)
  })
})

eachDatabase('invitations of a state that PostgreSQL has not counted', ({ open, engine }) => {
  async function addInvitations(tx: Transaction, state: 'accepted' | 'pending'): Promise<void> {
    await sql`insert into user_invitations (id, organization_id, user_id, state, delivery, created_at, expires_at)
      select ${state} || number, organization_id, id, ${state}, 'sent', 1, 100 from users where id like 'u%'`.execute(
      tx.query,
    )
  }

  test('are found by their users', async () => {
    const db = await open()
    const { organizationId } = await installed(db)
    await fill(db)
    await db.write(async (tx) => {
      await addInvitations(tx, 'accepted')
      if (engine === 'postgres') await sql`analyze`.execute(tx.query)
      await addInvitations(tx, 'pending')
    })
    const plans = await plansOf(db, async (tx) => {
      assert.equal((await revokeOpen(tx, organizationId, ['u7' as UserId], 50)).length, 1)
    })
    assert.equal(plans.length, 1)
    const [plan = ''] = plans
    assert.match(plan, engine === 'sqlite' ? /\(user_id=\? AND state=\?/ : /Index Cond: \(\(user_id = /, plan)
  })
})
