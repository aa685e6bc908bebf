import { sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Note } from '../note/note.ts'
import type { StoredObservation } from '../note/store-observations.ts'
import { cutColumn } from '../note/store-shown.ts'
import '../tables.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'

const NOTE_COLUMNS = [
  'id',
  'external_id',
  'title',
  'permalink',
  'file_path',
  'note_type',
  'size',
  'created_at',
  'updated_at',
] as const

/** A note as context shows it, without its text. */
export type ContextNote = Pick<Note, (typeof NOTE_COLUMNS)[number]>

const byIds = statement<{ projectId: number; ids: string }, ContextNote>(
  (_query, p, engine) => sql`
    select ${sql.join(NOTE_COLUMNS.map((column) => sql.ref(column)))} from notes
    where id in ${numbersIn(engine, p('ids'))} and +project_id = ${p('projectId')}`,
)

export function notesByIds(reader: Reader, projectId: number, ids: readonly number[]): Promise<ContextNote[]> {
  return reader.run(byIds, { projectId, ids: JSON.stringify(ids) })
}

export type RecentNote = Pick<Note, 'id' | 'size' | 'updated_at'>

interface RecentInput {
  projectId: number
  since: Micros
  beforeAt: Micros
  beforeId: number
  limit: number
}

const recent = statement<RecentInput, RecentNote>(
  (_query, p) => sql`
    select id, size, updated_at from notes
    where project_id = ${p('projectId')} and updated_at >= ${p('since')}
      and (updated_at, id) < (${p('beforeAt')}, ${p('beforeId')})
    order by updated_at desc, id desc limit ${p('limit')}`,
)

/** Newest first, behind the one given. */
export function recentNotes(reader: Reader, input: RecentInput): Promise<RecentNote[]> {
  return reader.run(recent, input)
}

/** Counted only where asked for, else 0. */
export interface CountedNote {
  id: number
  observations: number
  relations: number
}

const counts = statement<{ ids: string; countsObservations: number; countsRelations: number }, CountedNote>(
  (_query, p, engine) => sql`
    select id,
      case when ${asInteger(engine, p('countsObservations'))} = 1
        then (select count(*) from observations where note_id = notes.id) else 0 end as observations,
      case when ${asInteger(engine, p('countsRelations'))} = 1
        then (select count(*) from relations where from_id = notes.id and is_repeat = 0) else 0 end as relations
    from notes where id in ${numbersIn(engine, p('ids'))}`,
)

// PostgreSQL does not guess the type of a parameter that is compared with a constant the way we mean it.
function asInteger(engine: Engine, parameter: number): never {
  return (engine === 'sqlite' ? parameter : sql`${parameter}::integer`) as never
}

export function countParts(
  reader: Reader,
  ids: readonly number[],
  asked: { countsObservations: number; countsRelations: number },
): Promise<CountedNote[]> {
  return reader.run(counts, { ids: JSON.stringify(ids), ...asked })
}

const observations = statement<{ noteId: number; offset: number; limit: number }, StoredObservation>(
  (_query, p) => sql`
    select position, ${cutColumn('category')} as category, content, ${cutColumn('context')} as context, tags
    from observations
    where note_id = ${p('noteId')} order by position limit ${p('limit')} offset ${p('offset')}`,
)

/** Their content is whole, as permalinks are made of it. */
export function observationsFrom(
  reader: Reader,
  noteId: number,
  offset: number,
  limit: number,
): Promise<StoredObservation[]> {
  return reader.run(observations, { noteId, offset, limit })
}
