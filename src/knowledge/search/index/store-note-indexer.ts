import { SqliteConnection } from '../../../platform/storage/sqlite-connection.ts'
import type { Note } from '../../note/note.ts'
import { parseBody } from '../../text/body/parse-body.ts'
import { splitText } from '../../text/frontmatter/frontmatter.ts'
import { rowRange } from '../row-number.ts'
import type { TriedNote } from './deadly-notes.ts'
import { type SearchRow, searchRows } from './search-rows.ts'
import { openIndexFile, type StateRow } from './store-index-file.ts'
import { type OldRow, type RowChange, RowWriter } from './store-row-writer.ts'

export interface IndexerOptions {
  databaseFile: string
  indexFile: string
  /** Notes that must not be read, each up to this change: nobody survived it. */
  skip?: ReadonlyMap<number, number>
  onTry?(tried: TriedNote): void
  onSkipped?(noteId: number, reason: string): void
}

export interface BatchLimit {
  notes: number
  /** Characters of their texts, about; one note may have more. */
  size: number
}

export interface IndexedBatch {
  count: number
  /** Long texts filled it: more notes wait. */
  isCut: boolean
}

interface Waiting {
  /** The change, or the note itself while the index is filled. */
  seq: number
  note_id: number
  size: number | null
}

type IndexedNote = Pick<Note, 'id' | 'project_id' | 'title' | 'permalink' | 'file_path' | 'type_key' | 'metadata'> & {
  content: string
}

const TRIES = 3
const READ_CACHE_KIB = 2_048

const QUEUED = `
  select q.seq, q.note_id, n.size from note_search_queue q left join notes n on n.id = q.note_id
  where q.seq > ? order by q.seq limit ?`
const UNFILLED = 'select id as seq, id as note_id, size from notes where id > ? order by id limit ?'
const NOTE = `
  select n.id, n.project_id, n.title, n.permalink, n.file_path, n.type_key, n.metadata, c.content
  from notes n join note_contents c on c.note_id = n.id where n.id = ?`
// NOTE SQLite reads the whole index to find a range of its rows; this table of it is in the order of the numbers.
const ROWS = `
  select d.id, w.mark from note_search_docsize d left join note_words w on w.id = d.id
  where d.id between ? and ? order by d.id`
const LAST_QUEUED = 'select max(seq) as last from note_search_queue'
const LAST_NUMBER = 'select max(id) as last from note_search_docsize'
// Some milliseconds: whoever has a change waits for no more than one step.
const JOINED_PAGES = 64
const JOIN = `insert into note_search (note_search, rank) values ('merge', ${JOINED_PAGES})`
const CHANGES = 'select total_changes() as count'
// SQLite counts the command itself as a change.
const CHANGES_OF_NOTHING = 1

/**
 * Brings the index up to the database, some notes at a time. How far it is stands in the index itself and is committed with the
 * rows, so it may be ended at any moment; and a note is read as it is now, so it may be read once too often.
 */
export class NoteIndexer {
  readonly #options: IndexerOptions
  readonly #database: SqliteConnection
  readonly #index: SqliteConnection
  readonly #writer: RowWriter
  #done: number
  #filledTo: number | null
  /** The last row before the batch: notes behind it are new. */
  #lastNumber = 0

  constructor(options: IndexerOptions) {
    this.#options = options
    this.#database = new SqliteConnection(options.databaseFile, { readOnly: true, cacheKib: READ_CACHE_KIB })
    this.#index = openIndexFile(options.indexFile)
    this.#writer = new RowWriter(this.#index)
    const [state] = this.#index.rows('select done, filled_to from index_state', []) as StateRow[]
    this.#done = state?.done ?? 0
    this.#filledTo = state?.filled_to ?? null
  }

  get done(): number {
    return this.#done
  }

  get isWhole(): boolean {
    return this.#filledTo === null
  }

  /** Indexes the notes that wait longest, in one commit. */
  indexSome(limit: BatchLimit): IndexedBatch {
    const isFilling = this.#filledTo !== null
    const waiting = isFilling
      ? this.#read<Waiting>(UNFILLED, [this.#filledTo, limit.notes])
      : this.#read<Waiting>(QUEUED, [this.#done, limit.notes])
    const batch = withinSize(waiting, limit.size)
    const last = batch.at(-1)?.seq
    if (isFilling) this.#commit(batch, this.#done, last ?? null)
    else if (last !== undefined) this.#commit(batch, last, null)
    return { count: batch.length, isCut: batch.length < waiting.length }
  }

  /** Makes sure that what was committed so far survives a crash of the machine. */
  settle(): void {
    this.#index.handle.exec('pragma synchronous = full')
    try {
      this.#index.execute('update index_state set done = ?', [this.#done])
    } finally {
      this.#index.handle.exec('pragma synchronous = normal')
    }
  }

  /**
   * Many small commits leave many parts, and a search looks for each of its words in every one. Joins some of them; false when there
   * are so few that it would not pay.
   */
  joinSome(): boolean {
    const before = this.#changes()
    this.#index.change(JOIN, [])
    return this.#changes() - before > CHANGES_OF_NOTHING
  }

  close(): void {
    // Readers still have it open, and of all connections only the last one that may write would empty the log by itself.
    this.#index.rows('pragma wal_checkpoint(truncate)', [])
    this.#index.close()
    this.#database.close()
  }

  #commit(batch: readonly Waiting[], done: number, filledTo: number | null): void {
    this.#index.execute('begin immediate', [])
    try {
      const [row] = this.#index.rows(LAST_NUMBER, []) as { last: number | null }[]
      this.#lastNumber = row?.last ?? 0
      // While the index is filled they are numbers of notes.
      const read = this.#filledTo === null ? batch : batch.map((waiting) => ({ ...waiting, seq: this.#done }))
      this.#writer.write(this.#changesOf(ascending(read)))
      this.#index.execute('update index_state set done = ?, filled_to = ?', [done, filledTo])
      this.#index.execute('commit', [])
    } catch (error) {
      if (this.#index.inTransaction) this.#index.execute('rollback', [])
      this.#writer.forget()
      throw error
    }
    this.#done = done
    this.#filledTo = filledTo
  }

  /** By ascending number; why, says `searchRows`. */
  *#changesOf(batch: readonly TriedNote[]): Generator<RowChange> {
    for (const tried of batch) {
      const { first, last } = rowRange(tried.noteId)
      const old = first > this.#lastNumber ? [] : (this.#index.rows(ROWS, [first, last]) as OldRow[])
      let next = 0
      for (const row of this.#rowsOf(tried)) {
        for (; (old[next]?.id ?? row.number) < row.number; next++) yield { before: old[next] as OldRow, row: undefined }
        yield { before: old[next]?.id === row.number ? old[next++] : undefined, row }
      }
      for (; next < old.length; next++) yield { before: old[next] as OldRow, row: undefined }
    }
  }

  /** None for a note that is gone, or that cannot be read whatever is done. */
  #rowsOf({ noteId, seq }: TriedNote): Iterable<SearchRow> {
    const { skip, onTry, onSkipped } = this.#options
    if (seq <= (skip?.get(noteId) ?? -1)) return []
    // Before the note is read: it has all of these changes.
    onTry?.({ noteId, seq: Math.max(seq, this.#lastQueued()) })
    for (let tries = 1; ; tries++) {
      const [note] = this.#read<IndexedNote>(NOTE, [noteId])
      if (note === undefined) return []
      try {
        const { body } = splitText(note.content)
        return searchRows(note, { body, parsed: parseBody(body), metadata: JSON.parse(note.metadata) })
      } catch (error) {
        if (tries < TRIES) continue
        onSkipped?.(noteId, String(error))
        return []
      }
    }
  }

  #lastQueued(): number {
    return this.#read<{ last: number | null }>(LAST_QUEUED, [])[0]?.last ?? 0
  }

  #changes(): number {
    const [row] = this.#index.rows(CHANGES, []) as { count: number }[]
    return row?.count ?? 0
  }

  /** Trouble with the database is none with the index, and must not look like it. */
  #read<Row>(text: string, parameters: readonly unknown[]): Row[] {
    try {
      return this.#database.rows(text, parameters) as Row[]
    } catch (error) {
      throw new Error('The notes cannot be read', { cause: error })
    }
  }
}

function withinSize(waiting: readonly Waiting[], size: number): Waiting[] {
  let left = size
  let count = 0
  for (const { size: own } of waiting) {
    if (left <= 0) break
    left -= own ?? 0
    count++
  }
  return waiting.slice(0, count)
}

/** Each note once, for the last of its changes. */
function ascending(batch: readonly Waiting[]): TriedNote[] {
  const last = new Map(batch.map(({ note_id: noteId, seq }) => [noteId, { noteId, seq }]))
  return [...last.values()].sort((one, other) => one.noteId - other.noteId)
}
