/** What searches read of notes besides the index. */
import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../../../platform/clock/clock.ts'
import type { Reader } from '../../../platform/storage/database.ts'
import type { Engine } from '../../../platform/storage/engine.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { unplanned } from '../../../platform/storage/look-up.ts'
import { statement } from '../../../platform/storage/statement.ts'
import '../../tables.ts'
import type { FilteredNote } from '../filter/passing-notes.ts'

export type SearchedNote = FilteredNote & { id: number }

const byIds = statement<{ projectId: number; ids: string }, SearchedNote>(
  (_query, p, engine) => sql`
    select id, type_key, updated_at, metadata from notes
    where id in ${numbersIn(engine, p('ids'))} and +project_id = ${p('projectId')}`,
)

export async function searchedNotes(
  reader: Reader,
  projectId: number,
  ids: Iterable<number>,
): Promise<Map<number, SearchedNote>> {
  const unique = [...new Set(ids)]
  const rows = unique.length === 0 ? [] : await reader.run(byIds, { projectId, ids: JSON.stringify(unique) })
  return new Map(rows.map((row) => [row.id, row]))
}

export type ChangedNote = SearchedNote & { size: number }

const newest = statement<
  { projectId: number; after: Micros; beforeAt: Micros; beforeId: number; limit: number },
  ChangedNote
>(
  (_query, p, engine) => sql`
    select id, type_key, updated_at, metadata, size from notes
    where project_id = ${p('projectId')} and updated_at >= ${p('after')}
      and (updated_at, id) < (${p('beforeAt')}, ${p('beforeId')})
    order by updated_at desc, id desc limit ${unplanned(engine, p('limit'))}`,
)

/** By the time of their change, behind the one given. */
export function newestNotes(
  reader: Reader,
  projectId: number,
  after: Micros,
  before: Pick<SearchedNote, 'updated_at' | 'id'> | null,
  limit: number,
): Promise<ChangedNote[]> {
  const { updated_at: beforeAt, id: beforeId } = before ?? { updated_at: Number.MAX_SAFE_INTEGER, id: 0 }
  return reader.run(newest, { projectId, after, beforeAt, beforeId, limit })
}

const lastNote = statement<object, { last: number | null }>(() => sql`select max(id) as last from notes`)

/** Of the newest note of all projects: there are no more notes than that. */
export async function noteNumber(reader: Reader): Promise<number> {
  const [row] = await reader.run(lastNote, {})
  return row?.last ?? 0
}

const titles = statement<{ ids: string }, { id: number; title: string }>(
  (_query, p, engine) => sql`select id, title from notes where id in ${numbersIn(engine, p('ids'))}`,
)

export async function titlesOf(reader: Reader, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = ids.length === 0 ? [] : await reader.run(titles, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ id, title }) => [id, title]))
}

const byPermalink = statement<{ projectId: number; permalink: string }, { id: number }>(
  (_query, p) => sql`select id from notes where project_id = ${p('projectId')} and permalink = ${p('permalink')}`,
)

export async function idOfPermalink(reader: Reader, projectId: number, permalink: string): Promise<number | undefined> {
  return (await reader.run(byPermalink, { projectId, permalink }))[0]?.id
}

interface PermalinkInput {
  projectId: number
  from: string
  to: string
  part: string
  limit: number
}

export interface PermalinkRow {
  id: number
  permalink: string
  size: number
}

const permalinks = statement<PermalinkInput, PermalinkRow>(
  (_query, p, engine) => sql`
    select id, permalink, size from notes
    where project_id = ${p('projectId')} and permalink >= ${p('from')} and permalink <= ${p('to')} and ${holds(engine, p('part'))}
    order by permalink limit ${unplanned(engine, p('limit'))}`,
)

function holds(engine: Engine, part: string): RawBuilder<boolean> {
  return engine === 'sqlite' ? sql`instr(permalink, ${part}) > 0` : sql`position(${part}::text in permalink) > 0`
}

/** In their order; only those with the part in them. */
export function permalinksWith(reader: Reader, input: PermalinkInput): Promise<PermalinkRow[]> {
  return reader.run(permalinks, input)
}

const someProjects = statement<object, { count: number }>(
  () => sql`select count(*) as count from (select 1 from projects limit 2) few`,
)

/** Whether there is no other project, not even a deleted one. */
export async function isOnlyProject(reader: Reader): Promise<boolean> {
  return (await reader.run(someProjects, {}))[0]?.count === 1
}
