/**
 * The file with SQLite's index of words. It holds nothing that could not be made anew from the notes, so whatever is wrong with
 * it, it is thrown away.
 */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { SqliteConnection } from '../../../platform/storage/sqlite-connection.ts'
import { isSqliteDamage } from '../../../platform/storage/storage-errors.ts'

/** What the database says about the changes that an index of it has to know. */
export interface QueueState {
  installation: string
  /** Changes up to this number were taken off the queue, because the index had them. */
  removed: number
  /** The last change that there was. */
  last: number
  hasNotes: boolean
}

export interface IndexState {
  /** Changes up to this number are in the index. */
  done: number
  /** False while a new one is being filled. */
  isWhole: boolean
}

// Whatever changes what stands in the rows gets the next number, unless what stood there is looked for, too (unicode-forms.ts);
// indexes of another one are made anew.
const FORMAT = 7
// For the worker and, for a moment, the one who looks at the file.
const CACHE_KIB = 8_192
const WAIT_MS = 5_000

const SCHEMA = [
  // Texts are not kept here a second time. The words of `scope` are filters: project, kind of row, note type, frontmatter. Those of
  // `stems` are the English stems of the others, each once.
  `create virtual table note_search using fts5 (
    title, tags, headings, body, place, scope, stems,
    content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  )`,
  // Parts of the index are merged in larger steps than by default: half of the cost of a commit was merging.
  `insert into note_search (note_search, rank) values ('automerge', 16), ('crisismerge', 64)`,
  // Every word that a note had, in their order; those that no note has any more do no harm.
  `create table index_words (word text primary key) without rowid`,
  // How often each row has its words, and a mark of all that stands in the row.
  `create table note_words (id integer primary key, mark integer not null, words blob not null)`,
  // One row. While the index is filled for the first time, `filled_to` is the last note that is in it.
  `create table index_state (
    installation text not null, format integer not null, done integer not null, filled_to integer
  )`,
]

/** How a statement names what is in it. */
export const INDEX_TABLES = /\b(note_search|index_words|note_words)\b/

export function openIndexFile(file: string): SqliteConnection {
  const connection = new SqliteConnection(file, { readOnly: false, cacheKib: CACHE_KIB })
  // What a crash of the machine takes away from the end is still in the queue.
  connection.handle.exec('pragma synchronous = normal')
  connection.handle.exec('pragma secure_delete = fast')
  connection.handle.exec(`pragma busy_timeout = ${WAIT_MS}`)
  return connection
}

/** The index that is there, where it belongs to the database; else a new one, with nothing in it. */
export function placeIndexFile(file: string, queue: QueueState, isDamaged: boolean): IndexState & { isNew: boolean } {
  const kept = isDamaged || !existsSync(file) ? undefined : stateOf(file, queue)
  if (kept !== undefined) return { ...kept, isNew: false }
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  // Words of notes are in it: for its owner alone.
  closeSync(openSync(file, 'a', 0o600))
  return { ...create(file, queue), isNew: true }
}

function create(file: string, { installation, removed, hasNotes }: QueueState): IndexState {
  const connection = openIndexFile(file)
  try {
    connection.execute('begin immediate', [])
    for (const text of SCHEMA) connection.execute(text, [])
    const row = [installation, FORMAT, removed, hasNotes ? 0 : null]
    connection.execute('insert into index_state values (?, ?, ?, ?)', row)
    connection.execute('commit', [])
    return { done: removed, isWhole: !hasNotes }
  } finally {
    connection.close()
  }
}

/**
 * Undefined when the file is no index, or not one of this database. That shows in the numbers, too: the index has everything that
 * was taken off the queue, and nothing that never was in it; one of the two is missing when only one of the files was exchanged.
 */
function stateOf(file: string, queue: QueueState): IndexState | undefined {
  let connection: SqliteConnection | undefined
  try {
    connection = openIndexFile(file)
    const [row] = connection.rows('select installation, format, done, filled_to from index_state', []) as StateRow[]
    connection.rows(`select rowid from note_search where note_search match '"a"' limit 1`, [])
    if (row === undefined || row.installation !== queue.installation || row.format !== FORMAT) return undefined
    if (row.done < queue.removed || row.done > queue.last) return undefined
    return { done: row.done, isWhole: row.filled_to === null }
  } catch (error) {
    if (isSqliteDamage(error)) return undefined
    throw error
  } finally {
    connection?.close()
  }
}

export interface StateRow {
  installation: string
  format: number
  done: number
  filled_to: number | null
}
