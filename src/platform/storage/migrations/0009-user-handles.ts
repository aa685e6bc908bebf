import { type Kysely, sql } from 'kysely'

/**
 * Nearly every handle is the address of its user, so the order of addresses serves for these, and only the others have an
 * order of their own: a new user has one entry less at a random place of an index.
 */
export const name = 'user-handles'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const text of [
    `alter table users add column own_handle integer not null default 0`,
    `update users set own_handle = 1 where handle_key <> email_key`,
    `drop index users_by_email_key`,
    `create index users_by_email_key on users (list_group, email_key, created_at, number, own_handle)`,
    `drop index users_by_handle_key`,
    `create index users_by_handle_key on users (list_group, handle_key, created_at, number) where own_handle = 1`,
  ]) {
    await sql.raw(text).execute(db)
  }
}
