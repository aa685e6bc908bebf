import { type RawBuilder, sql } from 'kysely'
import type { Reader } from '../platform/storage/database.ts'
import { nameKey } from './user/user-keys.ts'

/**
 * A condition that the folded name holds the text, whatever characters are in it; undefined when there is nothing to
 * look for. For lists that are short or already narrowed: it looks at each row.
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
  const place = sql.ref(column)
  return engine === 'sqlite' ? sql<boolean>`instr(${place}, ${text}) > 0` : sql<boolean>`strpos(${place}, ${text}) > 0`
}
