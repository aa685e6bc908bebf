import { type Kysely, sql } from 'kysely'

/**
 * Notes whose words are others now: digits of other scripts are those of ASCII, letters that Arabic, Persian, Urdu and Kurdish write in
 * several ways are one, and a joiner ends no word. SQLite's index is made anew by itself.
 */
export const name = 'search variants'

const LETTERS = String.raw`\u0629\u0649\u0671\u06a9\u06c1-\u06c3\u06c0\u06cc\u06d2\u06d3\u06d5`
const DIGITS = [
  String.raw`\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef`,
  String.raw`\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d6f\u0f20-\u0f29`,
].join('')
// Forms of the letters that stand for their place in a word, and the joiner.
const OTHERS = String.raw`\u200d\ufb50-\ufdff\ufe70-\ufefc`
const CHANGED = `[${LETTERS}${DIGITS}${OTHERS}]`
const ROWS_OF_A_NOTE = 2 ** 22

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  if (engine === 'sqlite') return
  // As in rows of an earlier version: the job finds these notes, whose rows are found as before until it has written them anew.
  await sql`update note_search s set words = null from notes n join note_contents c on c.note_id = n.id
    where s.id = n.id * ${sql.lit(ROWS_OF_A_NOTE)} and (c.content ~ ${sql.lit(CHANGED)} or n.file_path ~ ${sql.lit(CHANGED)}
      or n.title ~ ${sql.lit(CHANGED)})`.execute(db)
}
