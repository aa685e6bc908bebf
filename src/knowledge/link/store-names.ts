import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { fromListed, lookUp } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { NoteRef } from '../note/note.ts'
import { NAME_KINDS } from '../tables.ts'

/** One name under which a note is found; `value` is the literal text, except of what stands in the note's row. */
export interface NameRow {
  key: string
  kind: number
  value: string
}

/** A name and the note that has it. */
export type NamedNote = NoteRef & NameRow

export interface NameOwner {
  projectId: number
  noteId: number
}

type Rows = NameOwner & { rows: string }

// One row after the other costs SQLite less than taking a list apart.
const insertRow = statement<NameOwner & NameRow>(
  (_query, p) => sql`
  insert into note_names (project_id, note_id, name_key, kind, value)
  values (${p('projectId')}, ${p('noteId')}, ${p('key')}, ${p('kind')}, ${p('value')}) on conflict do nothing`,
)

const insertRows = statement<Rows>(
  (_query, p) => sql`
  insert into note_names (project_id, note_id, name_key, kind, value)
  select ${p('projectId')}::bigint, ${p('noteId')}::bigint, value ->> 0, (value ->> 1)::int, value ->> 2
  from json_array_elements(${p('rows')}::json) on conflict do nothing`,
)

const deleteRow = statement<NameOwner & NameRow>((query, p) =>
  query
    .deleteFrom('note_names')
    .where('project_id', '=', p('projectId'))
    .where('name_key', '=', p('key'))
    .where('kind', '=', p('kind'))
    .where('note_id', '=', p('noteId'))
    .where('value', '=', p('value')),
)

// Each is looked for by itself: of a table that it does not know yet, PostgreSQL would rather compare all names of the project.
const deleteRows = statement<Rows>(
  (_query, p) => sql`
    delete from note_names where ctid = any(array(
      select found.ctid from json_array_elements(${p('rows')}::json) as list cross join lateral (
        select n.ctid from note_names n
        where n.project_id = ${p('projectId')} and n.name_key = list.value ->> 0 and n.kind = (list.value ->> 1)::int
          and n.note_id = ${p('noteId')} and n.value = list.value ->> 2
        limit 1
      ) as found))`,
)

const NOTHING = Promise.resolve()

/** Names that the note has already are left as they are. */
export function insertNames(tx: Transaction, owner: NameOwner, names: readonly NameRow[]): Promise<unknown> {
  if (tx.engine === 'sqlite') return tx.changeEach(insertRow, ownedNames(owner, names))
  return names.length === 0 ? NOTHING : tx.send(insertRows, { ...owner, rows: toRows(names) })
}

export async function deleteNames(tx: Transaction, owner: NameOwner, names: readonly NameRow[]): Promise<void> {
  if (tx.engine === 'sqlite') return tx.changeEach(deleteRow, ownedNames(owner, names))
  if (names.length > 0) await tx.send(deleteRows, { ...owner, rows: toRows(names) })
}

function ownedNames({ projectId, noteId }: NameOwner, names: readonly NameRow[]): (NameOwner & NameRow)[] {
  return names.map(({ key, kind, value }) => ({ projectId, noteId, key, kind, value }))
}

function toRows(names: readonly NameRow[]): string {
  return JSON.stringify(names.map(({ key, kind, value }) => [key, kind, value]))
}

const deleteOthers = statement<{ noteId: number }>((query, p) =>
  query.deleteFrom('note_names').where('note_id', '=', p('noteId')).where('kind', '<>', sql.lit(NAME_KINDS.current)),
)

/** Aliases and retired names. */
export async function deleteOtherNames(tx: Transaction, noteId: number): Promise<void> {
  await tx.send(deleteOthers, { noteId })
}

type Keys = { projectId: number; keys: string | readonly string[] }

/** How many notes of one name are looked at, when not all can be. */
const MOST_NAMESAKES = 200

// NOTE Limits are written into the statements: SQLite prepares one with a limit to be bound anew each time it is run.
const MOST_FOUND = 1000

const COLUMNS = sql.raw(`n.name_key as key, n.kind, n.value,
  notes.id, notes.external_id, notes.title, notes.permalink, notes.file_path`)

function ownerOf(engine: Engine) {
  return lookUp(engine, { table: 'notes', as: 'notes', on: sql`notes.id = n.note_id` })
}

// Each key once: SQLite looks for one after the other, and would need longer to make a set of them than to find the names.
const byKeys = statement<Keys, NamedNote>((_query, p, engine) =>
  engine === 'sqlite'
    ? sql`
      select ${COLUMNS} from json_each(${p('keys')}) k
      cross join note_names n on n.project_id = ${p('projectId')} and n.name_key = k.value
      ${ownerOf(engine)}
      limit ${sql.lit(MOST_FOUND)}`
    : sql`
      select ${COLUMNS} from unnest(${p('keys')}::text[]) as k
      cross join lateral (
        select * from note_names c
        where c.project_id = ${p('projectId')} and c.name_key = k limit ${sql.lit(MOST_FOUND)}) n
      ${ownerOf(engine)}
      limit ${sql.lit(MOST_FOUND)}`,
)

// The oldest notes of each key and kind.
const byCrowdedKeys = statement<Keys, NamedNote>((_query, p, engine) =>
  engine === 'sqlite'
    ? sql`
      select ${COLUMNS}
      from (select distinct value as name_key from json_each(${p('keys')})) k
      cross join (select value as kind from json_each('[0,1,2,3,4]')) d
      cross join note_names n on n.project_id = ${p('projectId')} and n.name_key = k.name_key and n.kind = d.kind
      ${ownerOf(engine)}
      where n.note_id < coalesce((
        select c.note_id from note_names c
        where c.project_id = ${p('projectId')} and c.name_key = k.name_key and c.kind = d.kind
        order by c.note_id limit 1 offset ${sql.lit(MOST_NAMESAKES)}), 9007199254740991)`
    : sql`
      select ${COLUMNS}
      from (select distinct unnest(${p('keys')}::text[]) as name_key) k
      cross join generate_series(0, 4) as d(kind)
      cross join lateral (
        select * from note_names c
        where c.project_id = ${p('projectId')} and c.name_key = k.name_key and c.kind = d.kind
        order by c.note_id limit ${sql.lit(MOST_NAMESAKES)}) n
      ${ownerOf(engine)}`,
)

export interface FoundNames {
  names: NamedNote[]
  /** There may be notes with these keys that were not looked at. */
  isCrowded: boolean
}

/** Who answers to the keys. Of a name that very many notes have, the oldest are found. */
export async function findNames(reader: Reader, projectId: number, keys: readonly string[]): Promise<FoundNames> {
  const list = asList(reader, [...new Set(keys)])
  const names = await reader.run(byKeys, { projectId, keys: list })
  if (names.length < MOST_FOUND) return { names, isCrowded: false }
  return { names: await reader.run(byCrowdedKeys, { projectId, keys: list }), isCrowded: true }
}

const byExactNames = statement<{ projectId: number; names: string | readonly string[] }, NoteRef>(
  (_query, p, engine) => {
    const list =
      engine === 'sqlite'
        ? sql`(select value from json_each(${p('names')}))`
        : sql`(select unnest(${p('names')}::text[]))`
    const from = (column: string) =>
      fromListed(engine, { table: 'notes', column, list, where: sql`project_id = ${p('projectId')}` })
    return sql`
      select id, external_id, title, permalink, file_path ${from('permalink')}
      union
      select id, external_id, title, permalink, file_path ${from('file_path')}`
  },
)

/** Notes whose permalink or path is literally one of the texts. */
export function findExactNames(reader: Reader, projectId: number, names: readonly string[]): Promise<NoteRef[]> {
  return reader.run(byExactNames, { projectId, names: asList(reader, names) })
}

// The plus sign keeps SQLite from walking through all notes of the project by another index.
const byExternalIds = statement<{ projectId: number; ids: string | readonly string[] }, NoteRef>(
  (_query, p, engine) => sql`
    select id, external_id, title, permalink, file_path from notes
    where +project_id = ${p('projectId')} and external_id ${
      engine === 'sqlite' ? sql`in (select value from json_each(${p('ids')}))` : sql`= any(${p('ids')}::text[])`
    }`,
)

const byExternalId = statement<{ projectId: number; id: string }, NoteRef>((query, p) =>
  query
    .selectFrom('notes')
    .select(['id', 'external_id', 'title', 'permalink', 'file_path'])
    .where('external_id', '=', p('id'))
    .where('project_id', '=', p('projectId')),
)

const inProject = statement<{ projectId: string; id: string }, NoteRef>((query, p) =>
  query
    .selectFrom('notes')
    .innerJoin('projects', 'projects.id', 'notes.project_id')
    .select(['notes.id', 'notes.external_id', 'notes.title', 'notes.permalink', 'notes.file_path'])
    .where('notes.external_id', '=', p('id'))
    .where('projects.external_id', '=', p('projectId'))
    .where('projects.deleted_at', 'is', null),
)

/** A note by its id and that of its project, in one query: what clients that keep ids ask for all the time. */
export async function findByIds(
  reader: Reader,
  projectExternalId: string,
  externalId: string,
): Promise<NoteRef | undefined> {
  const [note] = await reader.run(inProject, { projectId: projectExternalId, id: externalId })
  return note
}

export function findExternalIds(reader: Reader, projectId: number, ids: readonly string[]): Promise<NoteRef[]> {
  const [id] = ids
  if (id !== undefined && ids.length === 1) return reader.run(byExternalId, { projectId, id })
  return reader.run(byExternalIds, { projectId, ids: asList(reader, ids) })
}

function asList(reader: Reader, texts: readonly string[]): string | readonly string[] {
  return reader.engine === 'sqlite' ? JSON.stringify(texts) : texts
}
