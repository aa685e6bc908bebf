import type { Kysely } from 'kysely'
import { kyselyOver } from '../storage/kysely-over.ts'
import type { Migration } from '../storage/migrations/index.ts'
import { SqliteConnection } from '../storage/sqlite-connection.ts'

/** One table of ours, as both engines have it. */
export interface CatalogTable {
  name: string
  /** Those that hold data; a generated column is made again by the database that takes the row. */
  columns: string[]
  /** Those of them that hold numbers beyond what JavaScript keeps exactly. */
  numeric: string[]
  /** The column that the database counts up by itself. */
  identity: string | null
  /** Whether the migrations themselves put rows there: those come with a backup, and are no sign of use. */
  seeded: boolean
}

// The counters of a window are worthless by the time they are restored, the list of migrations is written by the migrations
// themselves, and what is restored gets a new search index, which waits for nothing.
const LEFT_OUT = new Set(['schema_migrations', 'rate_windows', 'note_search_queue'])

/**
 * Our tables after the given migrations, referenced before referring. They are found by running the migrations on an
 * empty database in memory: a feature's new table needs no entry anywhere, and a table of somebody else in the same
 * PostgreSQL database is never taken for ours. Search indexes and other virtual tables are not data.
 */
export async function catalogOf(migrations: readonly Migration[]): Promise<CatalogTable[]> {
  const scratch = new SqliteConnection(':memory:', { readOnly: false })
  try {
    const query = kyselyOver('sqlite', {
      execute: async (sql, parameters) => scratch.execute(sql, parameters),
      stream: () => {
        throw new Error('Nothing to stream from an empty database')
      },
    })
    for (const migration of migrations) await migration.up(query as unknown as Kysely<unknown>, 'sqlite')
    const names = rowsOf<{ name: string }>(
      scratch,
      `select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
    )
      .map(({ name }) => name)
      .filter((name) => !LEFT_OUT.has(name))
      .sort()
    return referencedFirst(scratch, names).map((name) => describe(scratch, name))
  } finally {
    scratch.close()
  }
}

function describe(scratch: SqliteConnection, name: string): CatalogTable {
  // `hidden` is 2 or 3 for a generated column.
  const columns = rowsOf<{ name: string; type: string; pk: number }>(
    scratch,
    `select name, type, pk from pragma_table_xinfo('${name}') where hidden = 0 order by cid`,
  )
  const [table] = rowsOf<{ sql: string }>(
    scratch,
    `select sql from sqlite_master where type = 'table' and name = '${name}'`,
  )
  const counts = /\bautoincrement\b/i.test(table?.sql ?? '')
  return {
    name,
    columns: columns.map((column) => column.name),
    numeric: columns.filter((column) => /^numeric$/i.test(column.type)).map((column) => column.name),
    identity: counts ? (columns.find((column) => column.pk === 1)?.name ?? null) : null,
    seeded: scratch.rows(`select 1 from "${name}" limit 1`, []).length > 0,
  }
}

/** Where tables refer to each other in a circle there is no such order; the loaders cope with that by themselves. */
function referencedFirst(scratch: SqliteConnection, names: string[]): string[] {
  const waiting = new Map(
    names.map((name) => {
      const parents = rowsOf<{ table: string }>(scratch, `select "table" from pragma_foreign_key_list('${name}')`)
      return [
        name,
        new Set(parents.map(({ table }) => table).filter((table) => table !== name && names.includes(table))),
      ]
    }),
  )
  const ordered: string[] = []
  while (waiting.size > 0) {
    const free = [...waiting].filter(([, parents]) => parents.size === 0).map(([name]) => name)
    const next = free.length > 0 ? free : [...waiting.keys()].slice(0, 1)
    for (const name of next) {
      ordered.push(name)
      waiting.delete(name)
    }
    for (const parents of waiting.values()) for (const name of next) parents.delete(name)
  }
  return ordered
}

function rowsOf<Row>(connection: SqliteConnection, sql: string): Row[] {
  return connection.rows(sql, []) as Row[]
}
