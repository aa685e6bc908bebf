import { type Kysely, sql } from 'kysely'

/** Characters that nobody sees, as the soft hyphen, no longer end a word of the index. SQLite's index is made anew by itself. */
export const name = 'unseen characters'

const UNSEEN = '[\u00ad\u2060\ufeff]'
const ROWS_OF_A_NOTE = 2 ** 22

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  if (engine === 'sqlite') return
  // As in rows of an earlier version: the job finds these notes, whose rows are found as before until it has written them anew.
  await sql`update note_search s set words = null from notes n join note_contents c on c.note_id = n.id
    where s.id = n.id * ${sql.lit(ROWS_OF_A_NOTE)} and (c.content ~ ${sql.lit(UNSEEN)} or n.title ~ ${sql.lit(UNSEEN)})`.execute(
    db,
  )
}
