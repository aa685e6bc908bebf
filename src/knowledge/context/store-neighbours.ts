import { type RawBuilder, sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { statement } from '../../platform/storage/statement.ts'
import { cutColumn } from '../note/store-shown.ts'
import type { RelationsTable } from '../tables.ts'

/** A relation with both ends, before the notes are known. */
export type RelationEdge = Pick<
  RelationsTable,
  'from_id' | 'position' | 'relation_type' | 'to_id' | 'to_name' | 'context' | 'anchor' | 'display'
>

const COLUMNS = [
  'from_id',
  'position',
  'relation_type',
  'to_id',
  'to_name',
  'context',
  'anchor',
  'display',
] as const satisfies readonly (keyof RelationEdge)[]

const LONG: readonly string[] = ['relation_type', 'context'] satisfies (keyof RelationEdge)[]
const columns = sql.join(
  COLUMNS.map((column) =>
    LONG.includes(column) ? sql`${cutColumn(`r.${column}`)} as ${sql.ref(column)}` : sql.ref(`r.${column}`),
  ),
)

function wanted(engine: Engine, ids: string): RawBuilder<unknown> {
  return engine === 'sqlite'
    ? sql`(select value as id from json_each(${ids})) as wanted cross join`
    : sql`(select value::bigint as id from json_array_elements_text(${ids}::json) as list (value)) as wanted inner join`
}

// A note of which everything depends must not fill the memory: of each note so many, in either direction.
const MOST_PER_NOTE = 256

const outgoing = statement<{ ids: string }, RelationEdge>(
  (_query, p, engine) => sql`
    select ${columns} from ${wanted(engine, p('ids'))} relations as r
      on r.from_id = wanted.id and r.position < ${sql.lit(MOST_PER_NOTE)}
    where r.is_repeat = 0`,
)

const incoming = statement<{ ids: string }, RelationEdge>(
  (_query, p, engine) => sql`
    select ${columns} from ${wanted(engine, p('ids'))} relations as r
      on r.to_id = wanted.id and r.from_id <= coalesce(
        (select more.from_id from relations as more where more.to_id = wanted.id
          order by more.from_id limit 1 offset ${sql.lit(MOST_PER_NOTE)}),
        ${sql.lit(Number.MAX_SAFE_INTEGER)})
    where r.is_repeat = 0`,
)

/** The relations from and to each of the notes; one between two of them comes twice. */
export async function relationsAround(reader: Reader, ids: readonly number[]): Promise<RelationEdge[]> {
  const input = { ids: JSON.stringify(ids) }
  return [...(await reader.run(outgoing, input)), ...(await reader.run(incoming, input))]
}

const ofNote = statement<{ noteId: number; offset: number; limit: number }, RelationEdge>(
  (_query, p) => sql`
    select ${columns} from relations as r where r.from_id = ${p('noteId')} and r.is_repeat = 0
    order by r.position limit ${p('limit')} offset ${p('offset')}`,
)

export function relationsFrom(reader: Reader, noteId: number, offset: number, limit: number): Promise<RelationEdge[]> {
  return reader.run(ofNote, { noteId, offset, limit })
}

const before = statement<{ noteId: number; position: number }, { amount: number }>(
  (_query, p) => sql`
    select count(*) as amount from relations
    where from_id = ${p('noteId')} and position < ${p('position')} and is_repeat = 0`,
)

/** How many relations of the note stand before the position: the offset of the one there. */
export async function relationsBefore(reader: Reader, noteId: number, position: number): Promise<number> {
  const [row] = await reader.run(before, { noteId, position })
  return Number(row?.amount ?? 0)
}
