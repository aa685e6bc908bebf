import { type Kysely, sql } from 'kysely'

/**
 * Notes whose words are others now: a soft hyphen ends none, emoji are some, and an observation has those of its category. SQLite's
 * index is made anew by itself.
 */
export const name = 'search again'

const UNSEEN = String.raw`\u00ad\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef`
// Some of these are no emoji; their notes are written anew for nothing.
const PICTURES = String.raw`\u2300-\u24ff\u2600-\u2bff\u3030\u303d\U0001f000-\U0001faff`
const CHANGED = `[${UNSEEN}${PICTURES}]`
const ROWS_OF_A_NOTE = 2 ** 22

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  if (engine === 'sqlite') return
  // As in rows of an earlier version: the job finds these notes, whose rows are found as before until it has written them anew.
  await sql`update note_search s set words = null from notes n join note_contents c on c.note_id = n.id
    where s.id = n.id * ${sql.lit(ROWS_OF_A_NOTE)} and (
      c.content ~ ${sql.lit(CHANGED)} or n.title ~ ${sql.lit(CHANGED)}
      or exists (select from observations o where o.note_id = n.id and o.category <> 'note'))`.execute(db)
}
