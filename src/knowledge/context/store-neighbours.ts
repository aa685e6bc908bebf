import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { type Statement, statement } from '../../platform/storage/statement.ts'
import { cutColumn } from '../note/store-shown.ts'
import type { RelationsTable } from '../tables.ts'
import { turnAfter } from '../text/steps.ts'

const COLUMNS = ['from_id', 'position', 'relation_type', 'to_id', 'to_name', 'context', 'anchor', 'display'] as const

/** A relation with both ends, before the notes are known. */
export type RelationEdge = Pick<RelationsTable, (typeof COLUMNS)[number]>

const LONG: readonly string[] = ['relation_type', 'context', 'display'] satisfies (keyof RelationEdge)[]
const columns = sql.join(
  COLUMNS.map((column) =>
    LONG.includes(column) ? sql`${cutColumn(`r.${column}`)} as ${sql.ref(column)}` : sql.ref(`r.${column}`),
  ),
)

/** Where a relation stands and where it leads: what a way along relations needs of it. */
export type Link = Pick<RelationsTable, 'from_id' | 'position' | 'to_id'>

type Part = RawBuilder<unknown>
type EachNote<More extends object> = Statement<{ ids: number | string } & More, Link>

/** What is asked of one note, asked of each of several. */
function ofEachNote<More extends object = object>(
  links: (id: Part, more: <K extends keyof More>(key: K) => Part) => Part,
): EachNote<More> {
  return statement((_query, p, engine) => {
    const parameter = (key: keyof More | 'ids') => sql`${p(key)}`
    if (engine === 'sqlite') return links(parameter('ids'), parameter)
    return sql`
      select links.* from (
        select value::bigint as id from json_array_elements_text(${parameter('ids')}::json) as list (value)
      ) as wanted cross join lateral (${links(sql.ref('wanted.id'), parameter)}) as links`
  })
}

/** SQLite reads without giving others a turn, and takes no longer for one note after the other; `breathe` may give them one. */
async function linksOf<More extends object>(
  reader: Reader,
  each: EachNote<More>,
  ids: readonly number[],
  more: More,
  breathe: (id: number) => Promise<unknown> | undefined,
): Promise<Link[]> {
  if (ids.length === 0) return []
  if (reader.engine === 'postgres') return reader.run(each, { ids: JSON.stringify(ids), ...more })
  const links: Link[] = []
  for (const id of ids) {
    links.push(...(await reader.run(each, { ids: id, ...more })))
    await breathe(id)
  }
  return links
}

// A note of which everything depends must not fill the memory: of each note so many, in either direction.
const MOST_PER_NOTE = 256
// Repeats are passed over, but not without end.
const MOST_PASSED = 8 * MOST_PER_NOTE
// Of the notes that changed since a moment, so many are looked for among those that are related.
const MOST_RECENT = 1_000

const most = sql.lit(MOST_PER_NOTE)

const outgoing = ofEachNote(
  (id) => sql`
    select from_id, position, to_id from relations
    where from_id = ${id} and is_repeat = 0 order by position limit ${most}`,
)

/** The place of the first relation from one note to another, which repeats none. */
const first = (from: Part, to: Part) =>
  sql`(select min(position) from relations where to_id = ${to} and from_id = ${from})`

// PostgreSQL would put all of very many relations in order before it takes the first; so it is told where these end.
// Where some notes link there very often, the others must not be left out: behind the first relations, one of each note.
const incoming = ofEachNote(
  (id) => sql`
    with recursive passed as (
      select from_id, position, is_repeat from relations
      where to_id = ${id} and from_id <= coalesce(
        (select from_id from relations where to_id = ${id} order by from_id limit 1 offset ${sql.lit(MOST_PASSED)}),
        ${sql.lit(Number.MAX_SAFE_INTEGER)})
      order by from_id, position limit ${sql.lit(MOST_PASSED)}
    ), next as (
      select from_id, position from passed where is_repeat = 0 order by from_id, position limit ${most}
    ), linking (id, number) as (
      select min(from_id), (select 1 + count(distinct from_id) from next) from relations
      where to_id = ${id} and from_id > (
        select case when count(*) < ${most} then (select max(from_id) from passed) else max(from_id) end from next)
      union all
      select (select min(from_id) from relations where to_id = ${id} and from_id > linking.id), number + 1
      from linking where id is not null and number < ${most}
    )
    select from_id, position, ${id} as to_id from next
    union all
    select id, ${first(sql.ref('linking.id'), id)}, ${id} from linking where id is not null and number <= ${most}`,
)

interface Recent {
  projectId: number
  since: Micros
}

const recently = (more: (key: keyof Recent) => Part) => sql`(
  select id from notes where project_id = ${more('projectId')} and updated_at >= ${more('since')}
  order by updated_at desc, id desc limit ${sql.lit(MOST_RECENT)}) as recent`

const toRecent = ofEachNote<Recent>(
  (id, more) => sql`
    select ${id} as from_id, position, to_id from (
      select ${first(id, sql.ref('recent.id'))} as position, id as to_id from ${recently(more)}
    ) as found where position is not null limit ${most}`,
)

const fromRecent = ofEachNote<Recent>(
  (id, more) => sql`
    select from_id, position, ${id} as to_id from (
      select id as from_id, ${first(sql.ref('recent.id'), id)} as position from ${recently(more)}
    ) as found where position is not null limit ${most}`,
)

const sizes = statement<{ ids: string }, { id: number; size: number }>(
  (_query, p, engine) => sql`select id, size from notes where id in ${numbersIn(engine, p('ids'))}`,
)

async function sizesOf(reader: Reader, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await reader.run(sizes, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ id, size }) => [id, size]))
}

// Some milliseconds, in characters of texts: whoever takes a turn for each of many short notes waits long on a busy server. What leads to
// a note, and what changed lately, is some thousand rows at most.
const READ_AT_ONCE = 100_000
const INCOMING = 10_000
const RECENT = 50_000

/**
 * The relations from and to each of the notes; one between two of them comes twice. Of a note with more than are read, the
 * first ones to and from those that changed last since then are there as well.
 */
export async function relationsAround(reader: Reader, ids: readonly number[], recent: Recent | null): Promise<Link[]> {
  const sizeOf = reader.engine === 'sqlite' ? await sizesOf(reader, ids) : new Map<number, number>()
  const breathe = turnAfter(READ_AT_ONCE)
  const from = await linksOf(reader, outgoing, ids, {}, (id) => breathe(sizeOf.get(id) ?? 0))
  const to = await linksOf(reader, incoming, ids, {}, () => breathe(INCOMING))
  if (recent === null) return [...from, ...to]
  const afterRecent = () => breathe(RECENT)
  const toRecentOnes = await linksOf(reader, toRecent, crowded(from, 'from_id'), recent, afterRecent)
  const fromRecentOnes = await linksOf(reader, fromRecent, crowded(to, 'to_id'), recent, afterRecent)
  return [...from, ...to, ...toRecentOnes, ...fromRecentOnes]
}

/** The notes that may have more. */
function crowded(links: readonly Link[], end: 'from_id' | 'to_id'): number[] {
  const counts = new Map<number, number>()
  for (const { [end]: id } of links) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1)
  return [...counts].flatMap(([id, count]) => (count < MOST_PER_NOTE ? [] : [id]))
}

const ofPlaces = statement<{ places: string }, RelationEdge>((_query, p, engine) =>
  engine === 'sqlite'
    ? sql`
      select ${columns} from json_each(${p('places')}) as place
      cross join relations as r on r.from_id = place.value ->> 0 and r.position = place.value ->> 1`
    : sql`
      select ${columns} from json_array_elements(${p('places')}::json) as place (value)
      cross join lateral (
        select * from relations
        where from_id = (place.value ->> 0)::bigint and position = (place.value ->> 1)::integer limit 1
      ) as r`,
)

/** What they say. */
export function relationsAt(
  reader: Reader,
  places: readonly Pick<Link, 'from_id' | 'position'>[],
): Promise<RelationEdge[]> {
  return reader.run(ofPlaces, { places: JSON.stringify(places.map(({ from_id, position }) => [from_id, position])) })
}

const ofNote = statement<{ noteId: number; offset: number; limit: number }, RelationEdge>(
  (_query, p) => sql`
    select ${columns} from relations as r where r.from_id = ${p('noteId')} and r.is_repeat = 0
    order by r.position limit ${p('limit')} offset ${p('offset')}`,
)

export function relationsFrom(reader: Reader, noteId: number, offset: number, limit: number): Promise<RelationEdge[]> {
  return reader.run(ofNote, { noteId, offset, limit })
}
