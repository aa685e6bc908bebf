import { type Kysely, sql } from 'kysely'

/** A deleted role is invisible at once; it is taken from its members afterwards, some at a time. */
export const name = 'role removal'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table roles add column deleted_at bigint`.execute(db)
}
