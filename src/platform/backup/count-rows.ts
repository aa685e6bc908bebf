import { sql } from 'kysely'
import type { Reader } from '../storage/database.ts'

/** Rows by table. */
export type RowCounts = Record<string, number>

export async function countRows(reader: Reader, tables: readonly { name: string }[]): Promise<RowCounts> {
  const counts: RowCounts = {}
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(
      reader.query,
    )
    counts[name] = rows[0]?.count ?? 0
  }
  return counts
}

/** The first table that is not as it should be, in words; undefined when all are. */
export function firstDifference(expected: RowCounts, found: RowCounts): string | undefined {
  const names = new Set([...Object.keys(expected), ...Object.keys(found)])
  const name = [...names].find((table) => (expected[table] ?? 0) !== (found[table] ?? 0))
  return name && `table ${name} has ${found[name] ?? 0} rows instead of ${expected[name] ?? 0}`
}
