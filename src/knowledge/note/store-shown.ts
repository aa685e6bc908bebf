import { type RawBuilder, sql } from 'kysely'

/** Types, categories, contexts and what a link shows have no limit of their own: of those that other notes have, so many characters are answered. */
export const LONGEST_SHOWN = 2_000

/** Of a column; cut by the database, since those of very many notes must not fill the memory. */
export function cutColumn(column: string): RawBuilder<string> {
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(LONGEST_SHOWN)})`
}

/** The same of a text, by code points as databases count them. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : [...text.slice(0, 2 * length)].slice(0, length).join('')
}
