import { type Kysely, sql } from 'kysely'

/** Emoji are words of the index, and what says how a character is to look is part of none. SQLite's index is made anew by itself. */
export const name = 'searched pictures'

// Some of these are no emoji; their notes are written anew for nothing.
const PICTURES = '[\u2300-\u24ff\u2600-\u2bff\u3030\u303d\ufe00-\ufe0f\u{1f000}-\u{1faff}\u{e0100}-\u{e01ef}]'
const ROWS_OF_A_NOTE = 2 ** 22

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  if (engine === 'sqlite') return
  // As in rows of an earlier version: the job finds these notes, whose rows are found as before until it has written them anew.
  await sql`update note_search s set words = null from notes n join note_contents c on c.note_id = n.id
    where s.id = n.id * ${sql.lit(ROWS_OF_A_NOTE)} and (c.content ~ ${sql.lit(PICTURES)} or n.title ~ ${sql.lit(PICTURES)})`.execute(
    db,
  )
}
