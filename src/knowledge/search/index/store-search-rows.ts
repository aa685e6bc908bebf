/**
 * The index of words: FTS5 on SQLite, in a file of its own (store-note-indexer.ts writes it); a GIN index over documents that we
 * build ourselves on PostgreSQL.
 */
import { sql } from 'kysely'
import type { Reader, Transaction } from '../../../platform/storage/database.ts'
import type { Engine } from '../../../platform/storage/engine.ts'
import { statement } from '../../../platform/storage/statement.ts'
import type { Note, NoteRef, Project } from '../../note/note.ts'
import { rowRange } from '../row-number.ts'
import { indexWords, queryWords } from '../words/search-text.ts'
import { differingRows } from './differing-rows.ts'
import { rowLists } from './row-lists.ts'
import { nameText, type SearchableText, searchRows } from './search-rows.ts'
import { nameBeginning, nameWord } from './search-scope.ts'
import { queueNote } from './store-search-queue.ts'
import { scopeMark } from './text-vector.ts'

/** A note and what of it can be searched. */
export interface SearchableNote {
  note: Note
  text: SearchableText
}

/**
 * Sees to it that the words of a note are found: on PostgreSQL its rows are written in the same change; SQLite's index is told
 * that it has to look at the note, and reads the text by itself.
 */
export function replaceSearchRows(tx: Transaction, note: Note, text: SearchableText, isNew: boolean): Promise<unknown> {
  return tx.engine === 'sqlite' ? queueNote(tx, note.id) : writeRows(tx, note, text, isNew)
}

async function writeRows(tx: Transaction, note: Note, text: SearchableText, isNew: boolean): Promise<void> {
  if (!isNew) await tx.send(deleteRows, rowRange(note.id))
  // What was sent before goes out, and the server is at work while the rows are made.
  await tx.breathe()
  for await (const rows of rowLists(searchRows(note, text), () => tx.breathe())) await tx.send(insertRows, { rows })
}

/**
 * PostgreSQL only: the same for a note whose rows are those of what it was before. Only those that differ are written: whoever moves a
 * note or adds a line to it changes few of them, and all of them cost more than the rest of the change.
 */
export async function changeSearchRows(tx: Transaction, before: SearchableNote, after: SearchableNote): Promise<void> {
  const breathe = () => tx.breathe()
  await breathe()
  const gone: number[] = []
  const rows = differingRows(searchRows(before.note, before.text), searchRows(after.note, after.text), {
    gone,
    breathe,
  })
  for await (const list of rowLists(rows, breathe)) await tx.send(putRows, { rows: list })
  if (gone.length > 0) await tx.send(deleteThese, { numbers: gone })
}

export async function dropSearchRows(tx: Transaction, noteId: number): Promise<void> {
  if (tx.engine === 'sqlite') await queueNote(tx, noteId)
  else await tx.send(deleteRows, rowRange(noteId))
}

const deleteRows = statement<{ first: number; last: number }>(
  (_query, p) => sql`delete from note_search where id between ${p('first')} and ${p('last')}`,
)

const deleteThese = statement<{ numbers: readonly number[] }>(
  (_query, p) => sql`delete from note_search where id = any(${p('numbers')}::bigint[])`,
)

const inserting = (rows: Buffer) => sql`
  insert into note_search (id, document, words, split, pieces)
  select (value ->> 0)::bigint, (value ->> 1)::tsvector, decode(value ->> 2, 'base64'), coalesce((value ->> 3)::smallint, 0),
    case when value -> 4 is not null then array(select piece::tsvector from json_array_elements_text(value -> 4) list (piece)) end
  from json_array_elements(${rows}::json)`

const insertRows = statement<{ rows: Buffer }>((_query, p) => inserting(p('rows')))

const putRows = statement<{ rows: Buffer }>(
  (_query, p) => sql`
    ${inserting(p('rows'))}
    on conflict (id) do update set
      document = excluded.document, words = excluded.words, split = excluded.split, pieces = excluded.pieces`,
)

// What a row has its words counted in begins with how many they are: no word of up to 255 stands there more often.
const IS_SHORT = sql`substr(s.words, 2, 3) = '\\x000000'::bytea`

const IS_CURRENT = sql`s.words is not null and (s.split is not null or ${IS_SHORT})`

const currentRow = statement<{ first: number }, { id: number }>(
  (_query, p) => sql`select s.id from note_search s where s.id = ${p('first')} and ${IS_CURRENT}`,
)

/** Whether the note has rows of this version, so that `changeSearchRows` may be called. Never so on SQLite. */
export async function hasSearchRows(reader: Reader, noteId: number): Promise<boolean> {
  if (reader.engine === 'sqlite') return false
  return (await reader.run(currentRow, { first: rowRange(noteId).first })).length > 0
}

const withoutRows = statement<{ after: number; limit: number }, Pick<Note, 'id' | 'project_id'>>(
  (_query, p) => sql`
    select id, project_id from notes n
    where id > ${p('after')} and not exists (
      select 1 from note_search s where s.id = n.id * ${sql.lit(rowRange(1).first)} and ${IS_CURRENT})
    order by id limit ${p('limit')}`,
)

/** PostgreSQL only: notes without a row, or with one of an earlier version. */
export function notesWithoutRows(
  reader: Reader,
  after: number,
  limit: number,
): Promise<Pick<Note, 'id' | 'project_id'>[]> {
  return reader.run(withoutRows, { after, limit })
}

// Whoever asks for more words than this has them compared with the notes that are found by the first ones.
const MAX_WORDS = 32
const MAX_CANDIDATES = 200

const notesByQuestion = statement<{ question: string; projectId: number }, NoteRef>((_query, p, engine) => {
  const isSqlite = engine === 'sqlite'
  const number = sql.raw(isSqlite ? 's.rowid' : 's.id')
  const matches = isSqlite ? sql`note_search match ${p('question')}` : sql`s.document @@ ${p('question')}::tsquery`
  return sql`
    select n.id, n.external_id, n.title, n.permalink, n.file_path
    from note_search s join notes n on n.id = ${number} / ${sql.lit(rowRange(1).first)}
    where ${matches} and n.project_id = ${p('projectId')} order by ${number} limit ${sql.lit(MAX_CANDIDATES)}`
})

/**
 * Notes that have every word of the text in title, permalink or path; where there is none, those with words that begin so. The
 * shortest first.
 */
export async function findByNameWords(reader: Reader, project: Project, text: string): Promise<NoteRef[]> {
  const words = [...new Set(queryWords(text))]
  if (words.length === 0) return []
  const asked = words.slice(0, MAX_WORDS)
  const find = async (question: string) => {
    const found = await reader.run(notesByQuestion, { question, projectId: project.id })
    return found.filter((note) => hasNameWords(note, words)).sort(byLength)
  }
  // Whole words first: these lists are read as far as needed, while beginnings are collected before the first is seen.
  const exact = await find(
    question(
      reader.engine,
      asked.map((word) => ({ word: nameWord(project.id, word) })),
    ),
  )
  return exact.length > 0
    ? exact
    : find(
        question(
          reader.engine,
          asked.map((word) => nameBeginning(project.id, word)),
        ),
      )
}

function question(engine: Engine, words: readonly { word: string; isBeginning?: boolean }[]): string {
  return engine === 'sqlite'
    ? `scope : (${words.map(({ word, isBeginning }) => `"${word}"${isBeginning ? ' *' : ''}`).join(' AND ')})`
    : words.map(({ word, isBeginning }) => `'${scopeMark(word)}'${isBeginning ? ':*' : ''}`).join(' & ')
}

function hasNameWords(note: NoteRef, words: readonly string[]): boolean {
  const own = indexWords(nameText(note))
  return words.every((word) => own.some((other) => other.startsWith(word)))
}

function byLength(one: NoteRef, other: NoteRef): number {
  return (
    one.title.length - other.title.length ||
    one.file_path.length - other.file_path.length ||
    (one.file_path < other.file_path ? -1 : 1)
  )
}
