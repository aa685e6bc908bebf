import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'

const beginnings = statement<{ ids: string; length: number }, { note_id: number; content: string }>(
  (_query, p, engine) => sql`
    select note_id, substr(content, 1, ${engine === 'sqlite' ? sql`${p('length')}` : sql`${p('length')}::integer`}) as content
    from note_contents where note_id in ${numbersIn(engine, p('ids'))}`,
)

/** At most `length` characters of each text. */
export async function contentsOf(reader: Reader, ids: readonly number[], length: number): Promise<Map<number, string>> {
  const rows = ids.length === 0 ? [] : await reader.run(beginnings, { ids: JSON.stringify(ids), length })
  return new Map(rows.map(({ note_id, content }) => [note_id, content]))
}
