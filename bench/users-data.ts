/**
 * Many users at once, by SQL alone: what takes seconds here would take an hour through the API. The rows are what the
 * server would have written; what it keeps by itself (indexes, triggers, tallies) is taken away for the time and made
 * again. Half of the users hold one large role, and each holds one of the small ones.
 */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { OrganizationId } from '../src/platform/auth/principal.ts'
import { listGroup } from '../src/users/user/user-keys.ts'

const SMALL_ROLES = 49
const EPOCH = 1_700_000_000_000_000
const LAST = 0x10ffff
const NEVER = Number.MAX_SAFE_INTEGER

type Engine = 'sqlite' | 'postgres'
type Execute = (sql: string) => Promise<unknown[]>

export async function fillSqlite(file: string, users: number): Promise<void> {
  const db = new DatabaseSync(file)
  for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -500000', 'temp_store = memory']) {
    db.exec(`pragma ${pragma}`)
  }
  const execute: Execute = async (sql) => db.prepare(sql).all()
  const kept = (await execute(`
    select type, name, sql from sqlite_master
    where tbl_name in ('users', 'user_roles') and type in ('index', 'trigger') and sql is not null`)) as {
    type: string
    name: string
    sql: string
  }[]
  for (const { type, name } of kept) await execute(`drop ${type} ${name}`)
  await fill('sqlite', execute, users)
  for (const { sql } of kept.sort((a, b) => a.type.localeCompare(b.type))) await execute(sql)
  await execute(`insert into users_search (users_search) values ('rebuild')`)
  db.exec('pragma journal_mode = wal')
  db.close()
}

export async function fillPostgres(url: string, users: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const execute: Execute = async (sql) => (await client.query(sql)).rows
  try {
    const kept = (await execute(`
      select indexname as name, indexdef as sql from pg_indexes
      where tablename in ('users', 'user_roles')
        and indexname not in (select conname from pg_constraint where contype in ('p', 'u'))`)) as {
      name: string
      sql: string
    }[]
    for (const { name } of kept) await execute(`drop index ${name}`)
    for (const table of ['users', 'user_roles']) await execute(`alter table ${table} disable trigger user`)
    await fill('postgres', execute, users)
    for (const table of ['users', 'user_roles']) await execute(`alter table ${table} enable trigger user`)
    for (const { sql } of kept) await execute(sql)
    for (const table of ['users', 'user_roles']) await execute(`vacuum analyze ${table}`)
  } finally {
    await client.end()
  }
}

async function fill(engine: Engine, execute: Execute, users: number): Promise<void> {
  const [organization] = (await execute('select id from organizations')) as { id: OrganizationId }[]
  const organizationId = organization?.id as OrganizationId
  const text = engine === 'sqlite' ? sqliteText : postgresText
  const series =
    engine === 'sqlite'
      ? `with recursive series (i) as (select 0 union all select i + 1 from series where i + 1 < ${users})`
      : `with series (i) as (select generate_series(0::bigint, ${users - 1}))`

  await execute(`
    insert into roles (id, organization_id, name, name_key, created_at, modified_at)
    ${series.replace(String(users), String(SMALL_ROLES + 1)).replace(String(users - 1), String(SMALL_ROLES))}
    select ${text.roleId('i')}, '${organizationId}', 'Bench ' || i, 'bench ' || i, ${EPOCH}, ${EPOCH} from series`)

  // A walk that meets every number once keeps the orders of the columns apart.
  const mixed = `((i * 7919 + 13) % ${users})`
  await execute(`
    insert into users (id, organization_id, email, handle, name, title, status, verified, service_account, created_at,
      modified_at, last_login_at, name_key, title_key, email_key, handle_key, login_key, list_group, search_text)
    ${series},
    made as (select i, ${mixed} as r, ${text.word('i * 31 % 4099')} || ' ' || ${text.word('i * 17 % 9973')} as name from series),
    rows as (
      select i, r, name, ${text.replace('name')} || '.' || r || '@example.org' as email,
        case when r % 3 = 0 then ${text.word('r % 211')} end as title,
        case when r % 3 = 1 then ${EPOCH} + r * 7000 end as login
      from made)
    select ${text.userId('i')}, '${organizationId}', email, email, ${text.capital('name')}, title,
      case when r % 100 < 80 then 'Active' when r % 100 < 92 then 'Pending' else 'Disabled' end, 1,
      case when i % 50 = 7 then 1 else 0 end, ${EPOCH} + i * 1000, ${EPOCH} + r * 1000, login,
      name, coalesce(title, ${text.character(LAST)}), email, email, coalesce(login, ${NEVER}),
      ${listGroup({ organizationId, status: 'Active', serviceAccount: false })}
        + case when r % 100 < 80 then 0 when r % 100 < 92 then 4 else 2 end + case when i % 50 = 7 then 1 else 0 end,
      name || ${text.character(0x1f)} || email || ${text.character(0x1f)} || email
    from rows order by i`)

  const first = `(select max(number) - ${users - 1} from users)`
  for (const [role, where] of [
    [text.roleId(`1 + (u.number - ${first}) % ${SMALL_ROLES}`), '1 = 1'],
    [text.roleId('0'), 'u.number % 2 = 0'],
  ]) {
    await execute(`
      insert into user_roles (user_id, role_id, created_at, list_group, status, name_key, title_key, email_key,
        handle_key, login_key, modified_at, user_created_at, user_number)
      select u.id, ${role}, u.created_at, u.list_group, u.status, u.name_key, u.title_key, u.email_key,
        u.handle_key, u.login_key, u.modified_at, u.created_at, u.number
      from users u where u.number >= ${first} and ${where}`)
  }
  await execute('delete from tallies')
  await execute(`
    insert into tallies (name, shard, amount)
    select 'users ' || organization_id || ' ' || status || ' ' || service_account, 0, count(*)
    from users group by organization_id, status, service_account`)
  await execute(`
    insert into tallies (name, shard, amount) select 'role ' || role_id, 0, count(*) from user_roles group by role_id`)
}

export function roleId(index: number): string {
  return `01900000-0000-7000-8000-${(0xf00_0000_0000 + index).toString(16).padStart(12, '0')}`
}

export function userId(index: number): string {
  return `01900000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`
}

// Names have four of them: a hundred and sixty thousand words that nobody bears.
const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu'.split(' ')

const sqliteText = {
  userId: (i: string) => `printf('01900000-0000-7000-8000-%012x', ${i})`,
  roleId: (i: string) => `printf('01900000-0000-7000-8000-%012x', ${0xf00_0000_0000} + ${i})`,
  word: (value: string) =>
    words(value, (index) => `json_extract('${JSON.stringify(SYLLABLES)}', '$[' || ${index} || ']')`),
  replace: (column: string) => `replace(${column}, ' ', '.')`,
  capital: (column: string) => `upper(substr(${column}, 1, 1)) || substr(${column}, 2)`,
  character: (code: number) => `char(${code})`,
}

const postgresText: typeof sqliteText = {
  ...sqliteText,
  userId: (i) => `'01900000-0000-7000-8000-' || lpad(to_hex(${i}), 12, '0')`,
  roleId: (i) => `'01900000-0000-7000-8000-' || lpad(to_hex(${0xf00_0000_0000} + ${i}), 12, '0')`,
  word: (value) => words(value, (index) => `('{${SYLLABLES.join(',')}}'::text[])[1 + ${index}]`),
  character: (code) => `chr(${code})`,
}

function words(value: string, syllable: (index: string) => string): string {
  return [1, 20, 400, 8_000].map((unit) => syllable(`((${value}) / ${unit} % 20)`)).join(' || ')
}
