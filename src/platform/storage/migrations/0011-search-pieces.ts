import { type Kysely, sql } from 'kysely'

/** Long texts in the index of words of PostgreSQL, whose documents hold only so many places of words. */
export const name = 'search pieces'

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  if (engine === 'sqlite') return
  // Both null in rows that were written before; a job finds the long ones among them and writes them anew.
  await sql`alter table note_search add column split smallint, add column pieces tsvector[]`.execute(db)
  // Of few rows: a search that looks at them must not come across all others.
  await sql`create index note_search_split on note_search (split, id) where split > 0`.execute(db)
}
