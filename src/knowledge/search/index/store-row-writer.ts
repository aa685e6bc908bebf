import type { SqliteConnection } from '../../../platform/storage/sqlite-connection.ts'
import { columnText, linesText } from '../words/search-text.ts'
import { countWords, markWith } from './row-words.ts'
import type { SearchRow } from './search-rows.ts'

/** A row of the index as it was before a change. */
export interface OldRow {
  id: number
  mark: number | null
}

/** What a row was and is. One of the two is missing where it is new, or no more. */
export type RowChange = { before: OldRow; row: undefined } | { before: OldRow | undefined; row: SearchRow }

interface RowWrite {
  number: number
  isOld: boolean
  /** Undefined: it is no more. */
  added: AddedRow | undefined
}

interface AddedRow {
  insert: string
  texts: string[]
  words: string[]
  mark: number
  bytes: Uint8Array
}

// Notes are read and parsed, words are counted and rows are written for so many rows in turn: the processor's caches hold one of these
// at a time, and going from one to the next for each row took a sixth longer. A long text is written before more is read.
const STAGE = { rows: 300, size: 100_000 }

const DELETE = 'delete from note_search where rowid = ?'
const DELETE_WORDS = 'delete from note_words where id = ?'
const INSERT_NOTE = `
  insert into note_search (rowid, tags, body, scope, stems, title, headings, place) values (?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_PART = 'insert into note_search (rowid, tags, body, scope, stems) values (?, ?, ?, ?, ?)'
const PUT_WORDS = 'insert or replace into note_words (id, mark, words) values (?, ?, ?)'
const INSERT_WORD = 'insert or ignore into index_words (word) values (?)'
const MOST_KNOWN_WORDS = 50_000

/** Writes rows of SQLite's index, in the order in which they are given. */
export class RowWriter {
  readonly #index: SqliteConnection
  /** Of the words in the index some that were just met. */
  readonly #known = new Set<string>()

  constructor(index: SqliteConnection) {
    this.#index = index
  }

  /** Rows that stay as they are, are left alone: a row costs less to compare than to write. */
  write(changes: Iterable<RowChange>): void {
    for (const some of stages(changes)) {
      for (const write of some.map(writeOf)) if (write !== undefined) this.#write(write)
    }
  }

  /** What was written last is not in the index. */
  forget(): void {
    this.#known.clear()
  }

  #write({ number, isOld, added }: RowWrite): void {
    if (isOld) this.#index.change(DELETE, [number])
    if (added === undefined) {
      this.#index.change(DELETE_WORDS, [number])
      return
    }
    // Of parts, too: the type of a plain link stands in no text.
    this.#addWords(added.words)
    this.#index.change(added.insert, [number, ...added.texts])
    this.#index.change(PUT_WORDS, [number, added.mark, added.bytes])
  }

  #addWords(words: readonly string[]): void {
    for (const word of words) {
      if (this.#known.has(word)) continue
      if (this.#known.size >= MOST_KNOWN_WORDS) this.#known.clear()
      this.#known.add(word)
      this.#index.change(INSERT_WORD, [word])
    }
  }
}

function* stages(changes: Iterable<RowChange>): Generator<RowChange[]> {
  let some: RowChange[] = []
  let size = 0
  for (const change of changes) {
    some.push(change)
    size += change.row?.body.length ?? 0
    if (some.length < STAGE.rows && size < STAGE.size) continue
    yield some
    some = []
    size = 0
  }
  yield some
}

/** Undefined where the row stays as it is. */
function writeOf({ before, row }: RowChange): RowWrite | undefined {
  if (row === undefined) return { number: before.id, isOld: true, added: undefined }
  const { number, tags, body, scope, title, headings, place } = row
  const { stems, bytes, words, mark: textMark } = countWords(row)
  const mark = markWith(textMark, scope)
  if (before?.mark === mark) return undefined
  const texts = [tags === '' ? '' : columnText(tags), columnText(body), scope, stems.join(' ')]
  const isPart = place === ''
  if (!isPart) texts.push(columnText(title), columnText(headings), linesText(place))
  const insert = isPart ? INSERT_PART : INSERT_NOTE
  return { number, isOld: before !== undefined, added: { insert, texts, words, mark, bytes } }
}
