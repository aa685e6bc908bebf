import { type Kysely, sql } from 'kysely'

/** How often each row of the index of words has which word. SQLite's index is a file of its own and is made anew by itself. */
export const name = 'search words'

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  if (engine === 'sqlite') return
  // Null in rows that were written before; a job finds them and writes them anew.
  await sql`alter table note_search add column words bytea`.execute(db)
}
