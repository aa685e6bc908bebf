import { AppError } from '../errors/app-error.ts'
import { MIGRATIONS, type Migration } from '../storage/migrations/index.ts'
import { SqliteConnection } from '../storage/sqlite-connection.ts'
import { damaged } from './backup-errors.ts'
import { catalogOf } from './catalog.ts'
import { firstDifference, type RowCounts } from './count-rows.ts'
import type { DumpTable, Value } from './dump-format.ts'
import { readDump } from './dump-reader.ts'
import { refuseUnknownColumns } from './known-columns.ts'
import { checkReferences, verifySqlite } from './sqlite-snapshot.ts'

export interface LoadOptions {
  file: string
  migrations?: readonly Migration[]
  onProgress?: (done: number, total: number) => void
}

/** Loads a dump into a database file that has the right tables and that nobody else knows of yet. */
export async function loadIntoSqlite(target: string, options: LoadOptions): Promise<RowCounts> {
  const { file, migrations = MIGRATIONS, onProgress } = options
  const tables = await catalogOf(migrations)
  const connection = new SqliteConnection(target, { readOnly: false })
  let counts: RowCounts = {}
  try {
    // A file that is thrown away when anything fails needs no journal; it is flushed once, at the end.
    for (const pragma of ['journal_mode = off', 'synchronous = off', 'foreign_keys = off']) {
      connection.execute(`pragma ${pragma}`, [])
    }
    connection.execute('begin', [])
    for (const { name, seeded } of tables) if (seeded) connection.execute(`delete from "${name}"`, [])
    for await (const event of readDump(file, { onProgress })) {
      if (event.kind === 'table')
        prepareTable(connection, event.table, () => refuseUnknownColumns(file, event.table, tables))
      else if (event.kind === 'rows') insert(connection, file, event.table, event.rows)
      else if (event.kind === 'end') counts = event.counts
    }
    connection.execute('commit', [])
    checkReferences(connection, (what) => damaged(file, what))
  } finally {
    connection.close()
  }
  const difference = firstDifference(counts, verifySqlite(target, tables))
  if (difference !== undefined) throw damaged(file, difference)
  return counts
}

/** The counter goes first: rows only ever raise it. */
function prepareTable(connection: SqliteConnection, { table, identity }: DumpTable, check: () => void): void {
  check()
  if (identity === null || identity.last < 1) return
  connection.execute('delete from sqlite_sequence where name = ?', [table])
  connection.execute('insert into sqlite_sequence (name, seq) values (?, ?)', [table, identity.last])
}

function insert(connection: SqliteConnection, file: string, { table, columns }: DumpTable, rows: Value[][]): void {
  const names = columns.map((column) => `"${column}"`).join(', ')
  const text = `insert into "${table}" (${names}) values (${columns.map(() => '?').join(', ')})`
  try {
    for (const row of rows) connection.rows(text, row)
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string }
    if (((errcode ?? 0) & 0xff) !== 19) throw error
    throw new AppError(
      'failed_precondition',
      `A row of table ${table} in ${file} is refused (${message}): nothing was restored`,
      {
        cause: error,
      },
    )
  }
}
