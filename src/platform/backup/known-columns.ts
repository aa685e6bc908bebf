import { unreadable } from './backup-errors.ts'
import type { CatalogTable } from './catalog.ts'
import type { DumpTable } from './dump-format.ts'

/** Names from a file go into SQL text only after they were found in the schema. */
export function refuseUnknownColumns(
  file: string,
  { table, columns, identity }: DumpTable,
  tables: readonly CatalogTable[],
): void {
  const known = tables.find(({ name }) => name === table)
  const stranger = columns.find((column) => !known?.columns.includes(column))
  if (known === undefined || stranger !== undefined || (identity !== null && identity.column !== known.identity)) {
    throw unreadable(
      `The backup ${file} has ${known === undefined ? `a table ${table}` : `columns in table ${table}`} that its schema ` +
        'does not have: restore it with the version that made it',
    )
  }
}
