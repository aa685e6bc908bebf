import { type RawBuilder, sql } from 'kysely'

/** Types, categories and contexts have no limit of their own: of those that other notes have, so many characters are answered. */
export const LONGEST_SHOWN = 2_000

/** Of a column; cut by the database, since those of very many notes must not fill the memory. */
export function cutColumn(column: string): RawBuilder<string> {
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(LONGEST_SHOWN)})`
}

/** Of a text, by code points as databases count them. */
export function cutText(text: string): string {
  return text.length <= LONGEST_SHOWN ? text : [...text.slice(0, 2 * LONGEST_SHOWN)].slice(0, LONGEST_SHOWN).join('')
}
