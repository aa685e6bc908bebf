import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledQuery, type KyselyPlugin, type RootOperationNode, sql } from 'kysely'
import type { RoleId } from '../../src/platform/auth/managed-roles.ts'
import type { Reader, Transaction } from '../../src/platform/storage/database.ts'
import { UserLister, type UserQuery } from '../../src/users/user/list-users.ts'
import type { UserSort } from '../../src/users/user/store-user-list.ts'
import { indexUsers } from '../../src/users/user/store-user-search.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'

const SORTS: UserSort[] = ['name', 'title', 'email', 'handle', 'status', 'created_at', 'modified_at', 'last_login_time']
const PAGE = { size: 10, number: 3 }
// As large as the test, so that each way of a large table is taken.
const LARGE = { small: 0 }

eachDatabase('how lists of users are found', ({ open, engine }) => {
  test('no order, filter or text reads the table from end to end or sorts it', async () => {
    const db = await open()
    const identity = await installed(db)
    const { users, operator, organizationId } = identity
    const [role, other] = (await db.query.selectFrom('roles').select('id').execute()) as [
      { id: RoleId },
      { id: RoleId },
    ]
    let made = 60
    for (let n = 0; n < made; n++) {
      await users.create(operator, { email: `person-${n}@example.org`, roleIds: n % 2 === 0 ? [role.id] : [] })
    }
    await users.disable(operator, { userId: (await users.create(operator, { email: 'former@example.org' })).id })
    if (engine === 'sqlite') await db.write((tx) => indexUsers(tx, 1_000))
    const asked: Omit<UserQuery, 'page'>[] = SORTS.flatMap((sort) =>
      [false, true].flatMap((descending) => [
        { order: { sort, descending } },
        { order: { sort, descending }, statuses: ['Pending'] },
        { order: { sort, descending }, serviceAccount: false },
        { order: { sort, descending }, roleIds: [role.id] },
        { order: { sort, descending }, roleIds: [role.id], statuses: ['Pending', 'Active'] },
        { order: { sort, descending }, roleIds: [role.id, other.id] },
      ]),
    )
    const name: UserQuery['order'] = { sort: 'name', descending: false }
    asked.push({ order: name, filter: 'person-41' }, { order: name, filter: 'son', statuses: ['Pending', 'Active'] })
    const lister = new UserLister({ ...identity, limits: LARGE })
    // The second time a text is asked for, only who changed meanwhile is looked at.
    for (const query of [...asked, ...asked.filter(({ filter }) => filter !== undefined)]) {
      await users.create(operator, { email: `person-${++made}@example.org` })
      await db.write(async (tx) => {
        if (engine === 'postgres') await refuseShortCuts(tx)
        const { reader, statements } = watched(tx)
        await lister.list(reader, organizationId, { ...query, page: PAGE })
        for (const statement of statements) {
          const plan = await planOf(tx, statement)
          const where = `${JSON.stringify(query)}\n${statement.sql}\n${plan}`
          assert.doesNotMatch(plan, SCAN, where)
          if (/u\.number in/.test(statement.sql)) assert.doesNotMatch(plan, WHOLE_GROUP, where)
          if (/order by "p0"/.test(statement.sql)) assert.doesNotMatch(plan, SORT, where)
        }
      })
    }
  })
})

/** So small a table would be read as a whole and sorted; the question is whether it could be done otherwise. */
async function refuseShortCuts(tx: Transaction): Promise<void> {
  for (const way of ['seqscan', 'sort', 'bitmapscan']) await sql.raw(`set local enable_${way} = off`).execute(tx.query)
}

const SCAN = /^SCAN (users|u|user_roles|r)\b|Seq Scan on (users|user_roles)\b/m
// PostgreSQL knows how large the table is and decides by that.
const WHOLE_GROUP = /SEARCH u USING .*INDEX users_by_/
const SORT = /TEMP B-TREE|^\s*(->)?\s*(Incremental )?Sort$/m

interface Seen {
  sql: string
  parameters: readonly unknown[]
}

/** The same data, and what was asked of it. */
function watched(reader: Reader): { reader: Reader; statements: Seen[] } {
  const statements: Seen[] = []
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }): RootOperationNode => {
      const { sql: text, parameters } = reader.query.getExecutor().compileQuery(node, { queryId: 'plan' })
      if (/\b(users|user_roles)\b/.test(text)) statements.push({ sql: text, parameters })
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const query = reader.query.withPlugin(plugin)
  return {
    reader: { engine: reader.engine, query, run: (statement, input) => reader.run(statement, input) },
    statements,
  }
}

async function planOf(reader: Reader, { sql: text, parameters }: Seen): Promise<string> {
  const explain = reader.engine === 'sqlite' ? 'explain query plan' : 'explain (costs off)'
  const { rows } = await reader.query.executeQuery<Record<string, unknown>>(
    CompiledQuery.raw(`${explain} ${text}`, [...parameters]),
  )
  return rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n')
}
