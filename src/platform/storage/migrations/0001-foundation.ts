import { type Kysely, sql } from 'kysely'

/** Identity, durable jobs, audit log, rate-limit windows, idempotency keys, and the roots of the features. */
export const name = 'foundation'

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  const blob = engine === 'sqlite' ? 'blob' : 'bytea'
  const serial =
    engine === 'sqlite' ? 'integer primary key autoincrement' : 'bigint generated always as identity primary key'
  // A rate-limit window is worth nothing after a crash: on PostgreSQL it skips the write-ahead log.
  const transient = engine === 'sqlite' ? 'table' : 'unlogged table'
  for (const text of [
    `create table organizations (
      id text primary key,
      public_id text not null unique,
      name text not null,
      description text,
      disabled integer not null default 0,
      sharing text not null default 'none',
      created_at bigint not null,
      modified_at bigint not null
    )`,
    `create table users (
      number ${serial},
      id text not null unique,
      organization_id text not null references organizations (id),
      email text not null,
      handle text not null,
      name text,
      title text,
      status text not null check (${oneOf('status', 'Pending', 'Active', 'Disabled')}),
      verified integer not null default 0,
      service_account integer not null default 0,
      anonymized_at bigint,
      last_login_at bigint,
      created_at bigint not null,
      modified_at bigint not null
    )`,
    // Service accounts share contact addresses, and an anonymized user frees the address it had.
    `create unique index users_email on users (organization_id, email) where service_account = 0 and anonymized_at is null`,
    `create table user_passwords (
      user_id text primary key references users (id),
      hash text not null,
      changed_at bigint not null
    )`,
    `create table permissions (
      id text primary key,
      name text not null unique,
      created_at bigint not null
    )`,
    `create table roles (
      id text primary key,
      organization_id text not null references organizations (id),
      name text not null,
      managed text check (${oneOf('managed', 'admin', 'standard', 'read_only')}),
      receives_permissions_from text not null default '[]',
      created_at bigint not null,
      modified_at bigint not null
    )`,
    `create unique index roles_managed on roles (organization_id, managed) where managed is not null`,
    `create table role_permissions (
      role_id text not null references roles (id) on delete cascade,
      permission_id text not null references permissions (id),
      primary key (role_id, permission_id)
    )`,
    `create table user_roles (
      user_id text not null references users (id),
      role_id text not null references roles (id) on delete cascade,
      created_at bigint not null,
      primary key (user_id, role_id)
    )`,
    `create index user_roles_role on user_roles (role_id, user_id)`,
    `create table api_keys (
      id text primary key,
      organization_id text not null references organizations (id),
      name text not null,
      secret_hash text not null unique,
      last4 text not null,
      created_by text references users (id),
      modified_by text references users (id),
      created_at bigint not null,
      modified_at bigint not null
    )`,
    `create table application_keys (
      id text primary key,
      user_id text not null references users (id),
      name text not null,
      secret_hash text not null unique,
      last4 text not null,
      scopes text,
      created_at bigint not null,
      last_used_at bigint
    )`,
    `create index application_keys_user on application_keys (user_id, created_at)`,
    `create table access_tokens (
      id text primary key,
      user_id text not null references users (id),
      name text not null,
      public_portion text not null,
      secret_hash text not null unique,
      last4 text not null,
      scopes text,
      created_at bigint not null,
      expires_at bigint,
      last_used_at bigint
    )`,
    `create index access_tokens_user on access_tokens (user_id, created_at)`,
    `create table sessions (
      id text primary key,
      user_id text not null references users (id),
      secret_hash text not null unique,
      csrf_token text not null,
      client_address text,
      user_agent text,
      created_at bigint not null,
      last_seen_at bigint not null,
      authenticated_at bigint not null,
      expires_at bigint not null
    )`,
    `create index sessions_user on sessions (user_id, created_at)`,
    `create index sessions_expiry on sessions (expires_at)`,
    `create table audit_events (
      position ${serial},
      id text not null,
      organization_id text not null references organizations (id),
      at bigint not null,
      action text not null,
      outcome text not null,
      actor_kind text not null,
      actor_id text,
      auth_method text,
      credential_id text,
      target_type text,
      target_id text,
      client_address text,
      user_agent text,
      request_id text,
      changes text not null default '{}'
    )`,
    // Every filter ends in the order of the list, so that a page costs the same however long the log is. An installation has
    // one organization: before each entry it would make every audited change dearer and no page cheaper.
    `create index audit_events_at on audit_events (at, position)`,
    `create index audit_events_action on audit_events (action, at, position)`,
    `create index audit_events_target on audit_events (target_id, at, position) where target_id is not null`,
    `create index audit_events_actor on audit_events (actor_id, at, position) where actor_id is not null`,
    `create table jobs (
      id text primary key,
      kind text not null,
      coalesce_key text,
      payload text not null,
      state text not null check (${oneOf('state', 'waiting', 'running', 'dead')}),
      due_at bigint not null,
      attempt integer not null default 0,
      fence bigint not null default 0,
      lease_owner text,
      lease_until bigint,
      last_error text,
      created_at bigint not null,
      changed_at bigint not null
    )`,
    // One waiting job per key: a second request for the same work finds the first one and joins it. And one running.
    `create unique index jobs_waiting_key on jobs (kind, coalesce_key) where state = 'waiting' and coalesce_key is not null`,
    `create unique index jobs_running_key on jobs (kind, coalesce_key) where state = 'running' and coalesce_key is not null`,
    // Each kind is claimed by itself, so that a flood of one costs the others nothing.
    `create index jobs_due on jobs (kind, due_at, id) where state = 'waiting'`,
    `create index jobs_running on jobs (kind, lease_until) where state = 'running'`,
    `create index jobs_dead on jobs (kind, id) where state = 'dead'`,
    // Every row of a queue dies young: the default of 20 % dead rows before a vacuum would slow each claim down.
    ...(engine === 'postgres' ? [`alter table jobs set (autovacuum_vacuum_scale_factor = 0.02)`] : []),
    `create ${transient} rate_windows (
      bucket text not null,
      subject text not null,
      window_start bigint not null,
      used bigint not null,
      primary key (bucket, subject, window_start)
    )`,
    `create index rate_windows_start on rate_windows (window_start)`,
    `create table idempotency_keys (
      subject text not null,
      route text not null,
      key text not null,
      fingerprint text not null,
      status integer,
      headers text,
      body ${blob},
      created_at bigint not null,
      primary key (subject, route, key)
    )`,
    `create index idempotency_keys_age on idempotency_keys (created_at)`,
    `create table projects (
      id ${serial},
      external_id text not null unique,
      name text not null,
      name_folded text not null unique,
      permalink text not null unique,
      path text not null,
      is_default integer not null default 0,
      created_at bigint not null,
      modified_at bigint not null
    )`,
    `create unique index projects_default on projects (is_default) where is_default = 1`,
    `create table namespaces (
      id text primary key,
      name text not null unique,
      description text not null default '',
      search_attributes text not null default '{}',
      settings text not null default '{}',
      created_at bigint not null,
      modified_at bigint not null
    )`,
    `create table installation (
      key text primary key,
      value text not null,
      created_at bigint not null
    )`,
  ]) {
    await sql.raw(text).execute(db)
  }
}

/** Not with `in`: SQLite would build the list anew for every row that it checks. */
function oneOf(column: string, ...values: string[]): string {
  return values.map((value) => `${column} = '${value}'`).join(' or ')
}
