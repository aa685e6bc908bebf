import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import type { OrganizationId, UserId } from '../../src/platform/auth/principal.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { listOwned } from '../../src/users/credential/store-credentials.ts'
import { eachDatabase } from '../support/each-database.ts'
import { turnsDuring } from '../support/turns-during.ts'

const ORGANIZATION = 'o1' as OrganizationId
const USERS = ['u1', 'u2'] as UserId[]
const KEYS = 14_000

/** Two users with keys, and one of another organization. */
async function fill(db: Database): Promise<void> {
  const numbers =
    db.engine === 'sqlite'
      ? sql`(with recursive n (i) as (select 1 union all select i + 1 from n where i < ${KEYS}) select i from n)`
      : sql`(select generate_series(1, ${KEYS}::int) as i)`
  await db.write(
    async (tx) => {
      for (const id of [ORGANIZATION, 'o2' as OrganizationId]) {
        await tx.query
          .insertInto('organizations')
          .values({
            id,
            public_id: id,
            name: id,
            description: null,
            disabled: 0,
            sharing: 'none',
            created_at: 1,
            modified_at: 1,
          })
          .execute()
      }
      for (const [id, organization] of [
        ['u1', ORGANIZATION],
        ['u2', ORGANIZATION],
        ['u3', 'o2'],
      ]) {
        await sql`
          insert into users (id, organization_id, email, handle, status, created_at, modified_at)
          values (${id}, ${organization}, ${`${id}@example.org`}, ${id}, 'Active', 1, 1)`.execute(tx.query)
      }
      // Names and ages repeat, so that ids decide as well; ids have another order than either.
      const mixed = sql`((i * 7919) % 100003)`
      await sql`
        insert into application_keys (id, user_id, name, name_key, secret_hash, last4, created_at, last_used_at)
        select 'k' || ${mixed}, case when i % 5 = 0 then 'u3' when i % 2 = 0 then 'u1' else 'u2' end,
          'Key ' || i % 90, 'key ' || i % 90, 'h' || i, 'a' || i % 7, i % 40, case when i % 3 = 0 then i % 11 end
        from ${numbers} as numbers`.execute(tx.query)
    },
    { alone: true },
  )
}

type Listed = { id: string; createdAt: number } & Record<string, unknown>

eachDatabase('a list of everybody’s keys', ({ open, engine }) => {
  it('is in order on every page while others have their turn', async () => {
    const db = await open()
    await fill(db)
    const of = { organizationId: ORGANIZATION, userId: null }
    const first = listOwned(db, 'application_keys', of, {
      page: { size: 50, number: 0 },
      sort: { field: 'name', descending: false },
    })
    const turns = await turnsDuring(first)
    if (engine === 'sqlite') assert.ok(turns >= 2, `${turns} turns`)
    const everything = (
      await Promise.all(
        USERS.map((userId) =>
          listOwned(
            db,
            'application_keys',
            { organizationId: ORGANIZATION, userId },
            {
              page: { size: KEYS, number: 0 },
              sort: { field: 'name', descending: false },
            },
          ),
        ),
      )
    ).flatMap(({ items }) => items as unknown as Listed[])
    assert.equal(everything.length, (KEYS * 4) / 5)
    for (const [field, keyOf] of Object.entries({
      name: ({ name }: Listed) => String(name).toLowerCase(),
      last4: ({ last4 }: Listed) => String(last4),
      created_at: ({ createdAt }: Listed) => createdAt,
      last_used_at: ({ lastUsedAt }: Listed) => (lastUsedAt as number | null) ?? Number.MAX_SAFE_INTEGER,
    })) {
      for (const descending of [false, true]) {
        for (const filter of [undefined, 'Y 7']) {
          const expected = everything.filter(({ name }) => filter === undefined || String(name).startsWith('Key 7'))
          expected.sort((a, b) => compare(keyOf(a), keyOf(b)) || a.createdAt - b.createdAt || compare(a.id, b.id))
          if (descending) expected.reverse()
          for (const number of [0, 1, 9, 1_000]) {
            const sort = { field: field as 'name', descending }
            const page = { size: 100, number }
            const { items, total, filtered } = await listOwned(db, 'application_keys', of, { page, sort, filter })
            assert.deepEqual(
              items.map(({ id }) => id),
              expected.slice(number * 100, (number + 1) * 100).map(({ id }) => id),
              `${field} ${descending} ${filter} ${number}`,
            )
            assert.deepEqual({ total, filtered }, { total: everything.length, filtered: expected.length })
          }
        }
      }
    }
  })
})

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
