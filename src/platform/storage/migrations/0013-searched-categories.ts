import { type Kysely, sql } from 'kysely'

/** An observation is found by the words of its category, too. SQLite's index is made anew by itself. */
export const name = 'searched categories'

const ROWS_OF_A_NOTE = 2 ** 22

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  if (engine === 'sqlite') return
  // As in rows of an earlier version: the job finds these notes, whose rows are found as before until it has written them anew.
  await sql`update note_search s set words = null from notes n
    where s.id = n.id * ${sql.lit(ROWS_OF_A_NOTE)}
      and exists (select from observations o where o.note_id = n.id and o.category <> 'note')`.execute(db)
}
