import { type RawBuilder, sql } from 'kysely'
import type { Reader } from '../platform/storage/database.ts'
import { nameKey } from './user/user-keys.ts'

/**
 * A condition that the folded name holds the text, whatever characters are in it; undefined when there is nothing to
 * look for. For lists that are short or already narrowed: it looks at each row. A name is kept as it was typed, so the text
 * is looked for in both forms of an accent.
 */
export function containsText(
  { engine }: Pick<Reader, 'engine'>,
  column: string,
  filter: string | undefined,
): RawBuilder<boolean> | undefined {
  const text = nameKey((filter ?? '').trim())
  if (text === '') return undefined
  // PostgreSQL cannot even be asked for it, and no name has it.
  if (text.includes('\0') || !text.isWellFormed()) return sql<boolean>`1 = 0`
  const find = sql.raw(engine === 'sqlite' ? 'instr' : 'strpos')
  const forms = new Set([text, text.normalize('NFC'), text.normalize('NFD')])
  const places = [...forms].map((form) => sql`${find}(${sql.ref(column)}, ${form}) > 0`)
  return sql<boolean>`(${sql.join(places, sql` or `)})`
}
