/**
 * A project of sample notes many times over, row by row: through the service a million notes take a quarter of an hour. Each copy is
 * as if written with larger numbers: `Note 7` becomes `Note 10007`, its links lead to notes of the same copy.
 */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { newId } from '../src/platform/ids/uuid.ts'

type Row = Record<string, string | number | null>

/** The tables of a note, those that others refer to first, with the columns that number notes. */
const TABLES: Record<string, { numbers: string[] }> = {
  notes: { numbers: ['id'] },
  note_contents: { numbers: ['note_id'] },
  note_names: { numbers: ['note_id'] },
  observations: { numbers: ['note_id'] },
  relations: { numbers: ['from_id', 'to_id'] },
  note_changes: { numbers: [] },
}
// What a database makes itself, and what must not be there twice.
const MADE = new Set(['seq'])
const NUMBER = /\b(note[ -]?)(\d+)/gi

/** Makes `times` as many of a database's sample notes, numbered from 0. The server must not be running. */
export function cloneNotes(dataDir: string, times: number, say: (line: string) => void): string[] {
  const db = new DatabaseSync(join(dataDir, 'commonplace.db'))
  db.exec('pragma synchronous = off; pragma cache_size = -400000; pragma foreign_keys = off')
  const { count, last } = db.prepare('select count(*) as count, max(id) as last from notes').get() as Row
  const tables = Object.entries(TABLES).map(([name, { numbers }]) => {
    const rows = db.prepare(`select * from ${name}`).all() as Row[]
    const columns = Object.keys(rows[0] as Row).filter((column) => !MADE.has(column))
    const holes = columns.map(() => '?').join(', ')
    const list = columns.map((column) => `"${column}"`).join(', ')
    return { columns, rows, numbers, insert: db.prepare(`insert into ${name} (${list}) values (${holes})`) }
  })
  for (let copy = 1; copy < times; copy++) {
    const ids = new Map<string, string>()
    const shift = (text: string) =>
      text.replace(NUMBER, (_, word: string, n: string) => word + (Number(n) + copy * (count as number)))
    db.exec('begin')
    for (const { columns, rows, numbers, insert } of tables) {
      for (const row of rows) insert.run(...columns.map((column) => copied(row, column)))

      function copied(row: Row, column: string): string | number | null {
        const value = row[column] ?? null
        if (value === null) return null
        if (numbers.includes(column)) return (value as number) + copy * (last as number)
        if (column === 'external_id') return idOf(value as string)
        if (column === 'checksum') return hash('sha256', `${copy} ${value}`)
        return typeof value === 'string' ? shift(value) : value
      }
    }
    db.exec('commit')
    if (copy % 10 === 0) say(`${copy * (count as number)} notes`)

    function idOf(externalId: string): string {
      const known = ids.get(externalId) ?? newId()
      ids.set(externalId, known)
      return known
    }
  }
  db.prepare('update tallies set amount = amount * ? where name like ?').run(times, 'notes%')
  db.prepare('insert into note_search_queue (note_id) select id from notes where id > ? order by id').run(
    last as number,
  )
  const ids = db.prepare('select external_id from notes').all() as { external_id: string }[]
  db.close()
  return ids.map(({ external_id: id }) => id)
}
