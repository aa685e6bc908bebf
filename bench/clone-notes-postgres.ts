/**
 * A project of sample notes many times over, on PostgreSQL and by statements alone: through the service a hundred thousand notes take
 * minutes. Each copy is as if written with larger numbers, `Note 7` becomes `Note 1000007`, and its links lead to notes of the same copy.
 */
import pg from 'pg'
import { rowRange } from '../src/knowledge/search/row-number.ts'

const ROWS_PER_NOTE = rowRange(1).first

type Kind = 'number' | 'row' | 'id' | 'text'

/** The tables of a note, those that others refer to first, with what differs in a copy. `made`: what the database fills itself. */
const TABLES: Record<string, { changed: Record<string, Kind>; made?: string }> = {
  notes: {
    changed: { id: 'number', external_id: 'id', title: 'text', permalink: 'text', file_path: 'text', metadata: 'text' },
  },
  note_contents: { changed: { note_id: 'number', content: 'text' } },
  note_names: { changed: { note_id: 'number', name_key: 'text', value: 'text' } },
  observations: { changed: { note_id: 'number', content: 'text' } },
  relations: {
    changed: { from_id: 'number', to_id: 'number', to_name: 'text', target_key: 'text', whole_key: 'text' },
  },
  note_changes: { changed: { external_id: 'id', file_path: 'text' }, made: 'seq' },
  note_search: { changed: { id: 'row' } },
}

/** Makes `times` as many of a database's sample notes, numbered from 0. The server must not be running. */
export async function cloneNotesOnPostgres(url: string, times: number, say: (line: string) => void): Promise<string[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows: found } = await client.query('select count(*)::int as count, max(id)::int as last from notes')
    const { count, last } = found[0] as { count: number; last: number }
    // What stands there now; copies are behind it.
    const lastRow = (last + 1) * ROWS_PER_NOTE
    await client.query(`create temporary table first_changes as select * from note_changes`)
    for (let copy = 1; copy < times; copy++) {
      await client.query('begin')
      for (const [table, { changed, made }] of Object.entries(TABLES)) {
        const { rows } = await client.query(
          `select column_name as name from information_schema.columns
            where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER'`,
          [table],
        )
        const columns = (rows as { name: string }[]).map(({ name }) => name).filter((name) => name !== made)
        const values = columns.map((name) => copied(`t."${name}"`, changed[name]))
        const [own] = Object.entries(changed).find(([, kind]) => kind === 'number' || kind === 'row') ?? []
        const source = own === undefined ? 'first_changes' : table
        const where = own === undefined ? '' : `where t.${own} < ${table === 'note_search' ? lastRow : last + 1}`
        const list = columns.map((name) => `"${name}"`).join(', ')
        await client.query(`insert into ${table} (${list}) select ${values.join(', ')} from ${source} t ${where}`)
      }
      await client.query('commit')
      say(`${(copy + 1) * count} notes`)

      function copied(column: string, kind: Kind | undefined): string {
        if (kind === 'number') return `${column} + ${copy * last}`
        if (kind === 'row') return `${column} + ${copy * last * ROWS_PER_NOTE}`
        if (kind === 'id') return `md5('${copy} ' || ${column})::uuid::text`
        if (kind === 'text') return `regexp_replace(${column}, '(note[ -]?)([0-9]+)', '\\1${copy}00000\\2', 'gi')`
        return column
      }
    }
    await client.query(`select setval(pg_get_serial_sequence('notes', 'id'), ${times * last})`)
    await client.query('update tallies set amount = amount * $1 where name like $2', [times, 'notes%'])
    // As the server does by itself after a while.
    await client.query('vacuum analyze')
    const { rows: ids } = await client.query('select external_id from notes')
    return (ids as { external_id: string }[]).map(({ external_id: id }) => id)
  } finally {
    await client.end()
  }
}
