import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Note, NoteRef } from '../note/note.ts'
import { cutColumn } from '../note/store-shown.ts'
import '../tables.ts'
import type { RelationsTable } from '../tables.ts'

/** What is stored of one link, beside the note and the project it belongs to. */
export type RelationRow = Omit<RelationsTable, 'from_id' | 'project_id' | 'is_repeat'> & { is_repeat: 0 | 1 }

const COLUMNS = [
  'position',
  'relation_type',
  'to_id',
  'is_repeat',
  'to_name',
  'anchor',
  'display',
  'context',
  'target_key',
  'whole_key',
] as const satisfies readonly (keyof RelationRow)[]

const NUMBERS: readonly string[] = ['position', 'to_id', 'is_repeat'] satisfies (keyof RelationRow)[]

/** So many are read or taken away by one statement: a note may have hundreds of thousands, and SQLite answers in one go. */
export const RELATIONS_AT_ONCE = 1000

const ownRows = statement<{ fromId: number; after: number }, RelationRow>((query, p) =>
  query
    .selectFrom('relations')
    .select(COLUMNS)
    .where('from_id', '=', p('fromId'))
    .where('position', '>', p('after'))
    .orderBy('position')
    .limit(sql.lit(RELATIONS_AT_ONCE)),
)

/** Everything that is stored of the next links of a note, repeats included, beginning behind a position. */
export function storedRelations(reader: Reader, fromId: number, after: number): Promise<RelationRow[]> {
  return reader.run(ownRows, { fromId, after })
}

/** A link of a note and the note that it leads to. */
type BoundRelation = NoteRef & Pick<RelationRow, 'position' | 'to_name' | 'anchor'>

// Each note is looked up by itself: of a table that it does not know yet, PostgreSQL would rather read all of it.
const boundRows = statement<{ fromId: number; after: number }, BoundRelation>(
  (_query, p, engine) => sql`
    select position, to_name, anchor, notes.id, notes.external_id, notes.title, notes.permalink, notes.file_path
    from (
      select position, to_name, anchor, to_id from relations
      where from_id = ${p('fromId')} and to_id is not null and position > ${p('after')}
      order by position limit ${sql.lit(RELATIONS_AT_ONCE)}
    ) bound ${
      engine === 'sqlite'
        ? sql`cross join notes on notes.id = bound.to_id`
        : sql`cross join lateral (select * from notes where notes.id = bound.to_id limit 1) as notes`
    }
    order by position`,
)

/** The next links of a note that lead to one, repeats included, beginning behind a position. */
export function boundRelations(reader: Reader, fromId: number, after: number): Promise<BoundRelation[]> {
  return reader.run(boundRows, { fromId, after })
}

export function isSameRelation(one: RelationRow, other: RelationRow): boolean {
  return COLUMNS.every((column) => one[column] === other[column])
}

const deleteRows = statement<{ fromId: number; position: number }>((query, p) =>
  query.deleteFrom('relations').where('from_id', '=', p('fromId')).where('position', '>=', p('position')),
)

const deleteSomeRows = statement<{ fromId: number; position: number }>((query, p) =>
  query
    .deleteFrom('relations')
    .where('from_id', '=', p('fromId'))
    .where('position', 'in', (eb) =>
      eb
        .selectFrom('relations')
        .select('position')
        .where('from_id', '=', p('fromId'))
        .where('position', '>=', p('position'))
        .limit(sql.lit(RELATIONS_AT_ONCE)),
    ),
)

/** Those from a place in the text on. */
export async function deleteRelations(tx: Transaction, fromId: number, position: number): Promise<void> {
  if (tx.engine === 'postgres') await tx.send(deleteRows, { fromId, position })
  else while ((await tx.change(deleteSomeRows, { fromId, position })) === RELATIONS_AT_ONCE);
}

export type RelationOwner = Pick<RelationsTable, 'from_id' | 'project_id'>

const COLUMN_LIST = sql.join(COLUMNS.map((column) => sql.ref(column)))

// One row after the other costs SQLite less than taking a list apart.
const insertRow = statement<RelationRow & RelationOwner>(
  (_query, p) => sql`
  insert into relations (from_id, project_id, ${COLUMN_LIST})
  values (${p('from_id')}, ${p('project_id')}, ${sql.join(COLUMNS.map((column) => sql.val(p(column))))})`,
)

const insertRows = statement<{ fromId: number; projectId: number; rows: string }>((_query, p) => {
  const values = COLUMNS.map((column, at) => {
    const value = sql`value ->> ${sql.lit(at)}`
    return NUMBERS.includes(column) ? sql`(${value})::bigint` : value
  })
  return sql`
    insert into relations (from_id, project_id, ${COLUMN_LIST})
    select ${p('fromId')}::bigint, ${p('projectId')}::bigint, ${sql.join(values)}
    from json_array_elements(${p('rows')}::json)`
})

const AT_ONCE = 5000

export function insertRelations(
  tx: Transaction,
  note: Pick<Note, 'id' | 'project_id'>,
  relations: readonly (RelationRow & RelationOwner)[],
): Promise<void> {
  return tx.engine === 'sqlite' ? tx.changeEach(insertRow, relations) : insertInLists(tx, note, relations)
}

async function insertInLists(
  tx: Transaction,
  note: Pick<Note, 'id' | 'project_id'>,
  relations: readonly RelationRow[],
): Promise<void> {
  for (let start = 0; start < relations.length; start += AT_ONCE) {
    if (start > 0) await tx.breathe()
    const rows = relations.slice(start, start + AT_ONCE).map((row) => COLUMNS.map((column) => row[column]))
    await tx.send(insertRows, { fromId: note.id, projectId: note.project_id, rows: JSON.stringify(rows) })
  }
}

/** A relation as answers show it, from the side of one note. */
export interface RelationView extends RelationTexts {
  direction: 'outgoing' | 'incoming'
  from: NoteRef
  /** Null while no note has the name. */
  to: NoteRef | null
}

interface RelationTexts {
  position: number
  relation_type: string
  to_name: string
  anchor: string | null
  display: string | null
  context: string | null
}

/** Those of one direction: outgoing ones in the order of the document, incoming ones by the path they come from. */
export interface RelationsOfNote {
  relations: RelationView[]
  /** There are more than are answered. */
  isTruncated: boolean
}

export const MOST_OUTGOING = 10_000
export const MOST_INCOMING = 1000

export interface ViewRow extends RelationTexts {
  id: number | null
  external_id: string
  title: string
  permalink: string | null
  file_path: string
}

const VIEW_COLUMNS = sql.raw(
  [
    ...['position', 'to_name', 'anchor'].map((column) => `r.${column}`),
    ...['id', 'external_id', 'title', 'permalink', 'file_path'].map((column) => `other.${column}`),
  ].join(', '),
)

/** What the note links to, as far as it is answered and one more. */
export function outgoingQuery(noteId: unknown) {
  return sql`
    select r.relation_type, r.context, r.display, ${VIEW_COLUMNS} from relations r left join notes other on other.id = r.to_id
    where r.from_id = ${noteId} and r.is_repeat = 0
    order by r.position
    limit ${sql.lit(MOST_OUTGOING + 1)}`
}

/**
 * What links to the note; a link to itself is outgoing only. In the order of the index: sorting by path would read every
 * relation to a note that all others link to. Its own text bounds what a note says, and nothing what a thousand others say.
 */
export function incomingQuery(engine: Engine, noteId: unknown) {
  return sql`
    select ${cutColumn('r.relation_type')} as relation_type, ${cutColumn('r.context')} as context,
      ${cutColumn('r.display')} as display, ${VIEW_COLUMNS}
    from relations r ${engine === 'sqlite' ? sql`cross join` : sql`join`} notes other on other.id = r.from_id
    where r.to_id = ${noteId} and r.from_id <> ${noteId} and r.is_repeat = 0
    order by r.from_id, r.position
    limit ${sql.lit(MOST_INCOMING + 1)}`
}

const outgoingRows = statement<{ noteId: number }, ViewRow>((_query, p) => outgoingQuery(p('noteId')))
const incomingRows = statement<{ noteId: number }, ViewRow>((_query, p, engine) => incomingQuery(engine, p('noteId')))

export async function outgoingRelations(reader: Reader, note: NoteRef): Promise<RelationsOfNote> {
  return outgoingOf(note, await reader.run(outgoingRows, { noteId: note.id }))
}

export async function incomingRelations(reader: Reader, note: NoteRef): Promise<RelationsOfNote> {
  return incomingOf(note, await reader.run(incomingRows, { noteId: note.id }))
}

export function outgoingOf(note: NoteRef, rows: ViewRow[]): RelationsOfNote {
  const isTruncated = rows.length > MOST_OUTGOING
  if (isTruncated) rows.pop()
  const relations = rows.map((row) => viewOf(row, 'outgoing', note, row.id === null ? null : (row as NoteRef)))
  return { relations, isTruncated }
}

export function incomingOf(note: NoteRef, rows: ViewRow[]): RelationsOfNote {
  const isTruncated = rows.length > MOST_INCOMING
  if (isTruncated) rows.pop()
  return { relations: rows.sort(bySource).map((row) => viewOf(row, 'incoming', row as NoteRef, note)), isTruncated }
}

function bySource(a: ViewRow, b: ViewRow): number {
  if (a.id === b.id) return a.position - b.position
  return a.file_path < b.file_path ? -1 : 1
}

export function viewOf(
  row: RelationTexts,
  direction: RelationView['direction'],
  from: NoteRef,
  to: NoteRef | null,
): RelationView {
  const { position, relation_type, to_name, anchor, display, context } = row
  return { position, relation_type, to_name, anchor, display, context, direction, from, to }
}
