import { type Kysely, sql } from 'kysely'

/** User administration: sorted and searched lists, invitations, second factors, password resets, mail, tallies. */
export const name = 'users'

const SORT_KEYS = ['name_key', 'title_key', 'email_key', 'handle_key', 'login_key', 'modified_at', 'created_at']

/** One index serves the orders by age and by status, since a group has one status. */
function place(key: string, age: string): string {
  return key === 'created_at' ? `status, ${age}` : `${key}, ${age}`
}

/** What a membership repeats of its user; `created_at` and `number` under other names, since it has a time of its own. */
const MEMBER_COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['list_group', 'bigint'],
  ['status', 'text'],
  ['name_key', 'exact'],
  ['title_key', 'exact'],
  ['email_key', 'exact'],
  ['handle_key', 'exact'],
  ['login_key', 'bigint'],
  ['modified_at', 'bigint'],
  ['user_created_at', 'bigint'],
  ['user_number', 'bigint'],
]
const CHANGING = MEMBER_COLUMNS.map(([name]) => name).filter((name) => !name.startsWith('user_'))

/** `(a, b) = (…)` for the columns of a membership: from the user with an id, or from a row of a trigger. */
function copyOfUser(source: 'select' | 'row', value: string): string {
  const names = MEMBER_COLUMNS.map(([name]) => name)
  const values = names.map((name) => name.replace(/^user_/, ''))
  return source === 'select'
    ? `(${names.join(', ')}) = (select ${values.map((name) => `u.${name}`).join(', ')} from users u where u.id = ${value})`
    : `(${names.join(', ')}) = (${values.map((name) => `${value}.${name}`).join(', ')})`
}

const SQLITE_TRIGGERS = [
  `create trigger user_roles_copy after insert on user_roles when new.user_number is null begin
    update user_roles set ${copyOfUser('select', 'new.user_id')} where user_id = new.user_id and role_id = new.role_id;
  end`,
  `create trigger users_copy after update of ${CHANGING.join(', ')} on users
    when ${CHANGING.map((name) => `old.${name} is not new.${name}`).join(' or ')} begin
    update user_roles set ${copyOfUser('row', 'new')} where user_id = new.id;
  end`,
  // New users are added later, many at a time, which costs a tenth; the index does not hold their texts, so whoever takes
  // one out has to say what it was.
  `create trigger users_search_changed after update of search_text on users
    when old.search_text <> new.search_text
      and exists (select 1 from users_search_docsize where id = old.number) begin
    insert into users_search (users_search, rowid, search_text) values ('delete', old.number, old.search_text);
    insert into users_search (rowid, search_text) values (new.number, new.search_text);
  end`,
]

const POSTGRES_TRIGGERS = [
  `create function user_roles_copy() returns trigger language plpgsql as $$ begin
    if new.user_number is null then
      select ${MEMBER_COLUMNS.map(([name]) => `u.${name.replace(/^user_/, '')}`).join(', ')}
        into ${MEMBER_COLUMNS.map(([name]) => `new.${name}`).join(', ')}
        from users u where u.id = new.user_id;
    end if;
    return new;
  end $$`,
  `create trigger user_roles_copy before insert on user_roles for each row execute function user_roles_copy()`,
  `create function users_copy() returns trigger language plpgsql as $$ begin
    update user_roles set ${copyOfUser('row', 'new')} where user_id = new.id;
    return null;
  end $$`,
  `create trigger users_copy after update of ${CHANGING.join(', ')} on users for each row
    when (${CHANGING.map((name) => `old.${name} is distinct from new.${name}`).join(' or ')})
    execute function users_copy()`,
]

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  // Code point order on both engines, whatever the locale of the PostgreSQL database is.
  const exact = engine === 'sqlite' ? 'text' : 'text collate "C"'
  for (const text of [
    // What a list is sorted and searched by; kept beside the values because neither engine folds case as we do.
    `alter table users add column name_key ${exact} not null default ''`,
    `alter table users add column title_key ${exact} not null default ''`,
    `alter table users add column email_key ${exact} not null default ''`,
    `alter table users add column handle_key ${exact} not null default ''`,
    `alter table users add column login_key bigint not null default 9007199254740991`,
    `alter table users add column list_group bigint not null default 0`,
    `alter table users add column search_text text not null default ''`,
    `alter table users add column allowed_login_methods text not null default '[]'`,
    ...NAMED.map((table) => `alter table ${table} add column name_key ${exact} not null default ''`),
  ]) {
    await sql.raw(text).execute(db)
  }
  await fillKeys(db)
  for (const text of [
    // Each group of users (organization, status and kind in one number) stands in the order of a list; a list merges the
    // groups that it wants. Ties are broken by age, then by number, which follows the id.
    ...SORT_KEYS.map(
      (key) => `create index users_by_${key} on users (list_group, ${place(key, 'created_at')}, number)`,
    ),
    // The same for the members of a role, which therefore carry what they are sorted by; kept by triggers, whoever writes.
    ...MEMBER_COLUMNS.map(
      ([name, type]) => `alter table user_roles add column ${name} ${type.replace('exact', exact)}`,
    ),
    `update user_roles set ${copyOfUser('select', 'user_roles.user_id')}`,
    ...SORT_KEYS.map(
      (key) =>
        `create index user_roles_by_${key} on user_roles (role_id, list_group, ${place(key, 'user_created_at')}, user_number)`,
    ),
    ...(engine === 'sqlite'
      ? [
          `create virtual table users_search using fts5 (search_text, content = 'users', content_rowid = 'number', tokenize = 'trigram case_sensitive 1', detail = none)`,
          // What is taken out of the index leaves no part of a name behind in it.
          `insert into users_search (users_search, rank) values ('secure-delete', 1)`,
          `insert into users_search (users_search) values ('rebuild')`,
          ...SQLITE_TRIGGERS,
        ]
      : [
          `create extension if not exists pg_trgm`,
          `create index users_search on users using gin (search_text gin_trgm_ops)`,
          ...POSTGRES_TRIGGERS,
        ]),
    // Counts that lists show without counting. A tally is the sum of its shards: writers of one tally rarely meet.
    `create table tallies (
      name text not null,
      shard integer not null,
      amount bigint not null,
      primary key (name, shard)
    )`,
    `insert into tallies (name, shard, amount)
      select 'users ' || organization_id || ' ' || status || ' ' || service_account, 0, count(*)
      from users group by organization_id, status, service_account`,
    `insert into tallies (name, shard, amount)
      select 'role ' || role_id, 0, count(*) from user_roles group by role_id`,
    `create table user_invitations (
      id text primary key,
      organization_id text not null references organizations (id),
      user_id text not null references users (id),
      state text not null check (${oneOf('state', 'pending', 'accepted', 'revoked')}),
      token_hash text unique,
      invited_by text references users (id),
      delivery text not null check (${oneOf('delivery', 'queued', 'sent', 'failed', 'disabled')}),
      created_at bigint not null,
      expires_at bigint not null,
      accepted_at bigint
    )`,
    `create index user_invitations_newest on user_invitations (organization_id, created_at, id)`,
    `create index user_invitations_state on user_invitations (organization_id, state, created_at, id, expires_at)`,
    `create index user_invitations_user on user_invitations (user_id, state)`,
    `create table user_totp (
      user_id text primary key references users (id),
      secret text not null,
      confirmed_at bigint,
      last_step bigint not null default 0,
      created_at bigint not null
    )`,
    `create table recovery_codes (
      user_id text not null references users (id),
      code_hash text not null,
      used_at bigint,
      primary key (user_id, code_hash)
    )`,
    // One-time links by mail: a new password, or proof of a new address.
    `create table user_links (
      id text primary key,
      user_id text not null references users (id),
      purpose text not null check (${oneOf('purpose', 'password_reset', 'email_verification', 'setup')}),
      token_hash text not null unique,
      email text,
      created_at bigint not null,
      expires_at bigint not null
    )`,
    `create index user_links_user on user_links (user_id, purpose)`,
    `create index user_links_expiry on user_links (expires_at)`,
    `create table mails (
      id text primary key,
      user_id text not null references users (id),
      purpose text not null,
      subject_id text,
      recipient text not null,
      state text not null check (${oneOf('state', 'queued', 'sent', 'failed')}),
      last_error text,
      created_at bigint not null,
      changed_at bigint not null
    )`,
    `create index mails_user on mails (user_id)`,
    `create index mails_subject on mails (subject_id) where subject_id is not null`,
    `create index mails_state on mails (state, changed_at)`,
    // Whom a kept answer is about, so that it can be found when the person is anonymized.
    `create table idempotency_mentions (
      mention text not null,
      subject text not null,
      route text not null,
      key text not null,
      primary key (mention, subject, route, key),
      foreign key (subject, route, key) references idempotency_keys (subject, route, key) on delete cascade
    )`,
    `create index idempotency_mentions_key on idempotency_mentions (subject, route, key)`,
  ]) {
    await sql.raw(text).execute(db)
  }
}

// Lower case as JavaScript has it, which SQL cannot do alike on both engines; a missing text sorts after every text.
const LAST = '\u{10FFFF}'

/** Lists of these are sorted and searched by name. */
const NAMED = ['roles', 'api_keys', 'application_keys', 'access_tokens']

async function fillKeys(db: Kysely<unknown>): Promise<void> {
  for (const table of NAMED) {
    const named = await sql<{ id: string; name: string }>`select id, name from ${sql.table(table)}`.execute(db)
    for (const { id, name } of named.rows) {
      await sql`update ${sql.table(table)} set name_key = ${name.toLowerCase()} where id = ${id}`.execute(db)
    }
  }
  const users = await sql<{
    id: string
    organization_id: string
    status: string
    service_account: number
    name: string | null
    title: string | null
    email: string
    handle: string
    last_login_at: number | null
  }>`
    select id, organization_id, status, service_account, name, title, email, handle, last_login_at
    from users`.execute(db)
  for (const { id, name, title, email, handle, last_login_at, ...rest } of users.rows) {
    const keys = [name, email, handle].map((text) => (text ?? '').toLowerCase())
    await sql`update users set
        name_key = ${name?.toLowerCase() ?? LAST}, title_key = ${title?.toLowerCase() ?? LAST},
        email_key = ${email.toLowerCase()}, handle_key = ${handle.toLowerCase()},
        login_key = ${last_login_at ?? Number.MAX_SAFE_INTEGER}, list_group = ${listGroup(rest)}, search_text = ${keys.join('\u001f')}
      where id = ${id}`.execute(db)
  }
}

function listGroup(user: { organization_id: string; status: string; service_account: number }): number {
  const organization = Number.parseInt(user.organization_id.replaceAll('-', '').slice(-11), 16)
  return organization * 8 + ['Active', 'Disabled', 'Pending'].indexOf(user.status) * 2 + user.service_account
}

/** Not with `in`: SQLite would build the list anew for every row that it checks. */
function oneOf(column: string, ...values: string[]): string {
  return values.map((value) => `${column} = '${value}'`).join(' or ')
}
