import { type RawBuilder, sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { lookUp, unplanned } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'
import type { Chunk } from '../snapshot/snapshot-stream.ts'
import { folderBounds } from '../text/name/path.ts'
import {
  byConditions,
  isOfType,
  type JsonRows,
  joined,
  type Parameter,
  placeBy,
  quoted,
  type RawJsonRows,
  rowsOf,
} from './store-json-rows.ts'
import type { PathRange } from './store-paths.ts'

export interface EdgesQuery extends PathRange {
  projectId: number
  /** Both ends have one of them. */
  typeKeys: readonly string[] | null
  /** Both ends are in it. */
  folder: string | null
}

interface Input extends PathRange {
  projectId: number
  typeKeys: string
  lower: string
  upper: string
  limit: number
}

function targetOf(engine: Engine): RawBuilder<unknown> {
  return lookUp(engine, { table: 'notes', as: 'target', on: sql`target.id = r.to_id` })
}

/** `source` are the notes of the range; each relation is found by its key, and its target by number. */
function edges(p: Parameter<Input>, engine: Engine, hasType: boolean, hasFolder: boolean): RawBuilder<unknown> {
  // SQLite takes tables in this order when they are joined so.
  const join = engine === 'sqlite' ? sql`cross join` : sql`inner join`
  return sql`from notes as source
    ${join} relations as r on r.from_id = source.id
    ${targetOf(engine)}
    where source.project_id = ${p('projectId')}
      and source.file_path > ${p('after')} and source.file_path <= ${p('upto')}
      and r.to_id is not null and r.is_repeat = 0 and target.project_id = source.project_id
      ${hasType ? sql`and ${isOfType(engine, 'source.type_key', p('typeKeys'))} and ${isOfType(engine, 'target.type_key', p('typeKeys'))}` : sql``}
      ${hasFolder ? sql`and target.file_path > ${p('lower')} and target.file_path < ${p('upper')}` : sql``}
    order by source.file_path, r.position`
}

function edgeText(engine: Engine): RawBuilder<string> {
  return sql`',{"from_id":"' || source.external_id || '","to_id":"' || target.external_id
    || '","relation_type":' || ${quoted(engine, 'r.relation_type')} || '}'`
}

const rows = byConditions((hasType, hasFolder) =>
  statement<Input, RawJsonRows>(
    (_query, p, engine) => sql`
      select ${joined(engine)} as text, count(*) as count from (
        select ${edgeText(engine)} as row ${placeBy(engine, 'source.file_path', 'r.position')}
        ${edges(p, engine, hasType, hasFolder)} limit ${unplanned(engine, p('limit'))}
      ) as rows`,
  ),
)

function inputOf(query: EdgesQuery, limit: number): Input {
  const { projectId, after, upto, typeKeys, folder } = query
  return { projectId, after, upto, typeKeys: JSON.stringify(typeKeys), limit, ...folderBounds(folder ?? '') }
}

/** At most `limit` edges from the notes of a range, in the order of their sources' paths and of the text. */
export async function edgesOf(reader: Reader, query: EdgesQuery, limit: number): Promise<JsonRows> {
  const [row] = await reader.run(rows(query.typeKeys !== null, query.folder !== null), inputOf(query, limit))
  return rowsOf(row)
}

export interface EdgePlace {
  file_path: string
  from_id: number
  position: number
}

const nth = byConditions((hasType, hasFolder) =>
  statement<Input, EdgePlace>(
    (_query, p, engine) => sql`
      select source.file_path, r.from_id, r.position
      ${edges(p, engine, hasType, hasFolder)} limit 1 offset ${p('limit')}`,
  ),
)

/** Where the edge number `n` stands, from 1. */
export async function placeOfEdge(reader: Reader, query: EdgesQuery, n: number): Promise<EdgePlace | undefined> {
  const [place] = await reader.run(nth(query.typeKeys !== null, query.folder !== null), inputOf(query, n - 1))
  return place
}

type RestInput = Pick<Input, 'typeKeys' | 'lower' | 'upper' | 'limit'> & Omit<EdgePlace, 'file_path'>

const rest = byConditions((hasType, hasFolder) =>
  statement<RestInput, RawJsonRows & { position: number | null }>(
    (_query, p, engine) => sql`
      select ${joined(engine)} as text, count(*) as count, max(position) as position from (
        select ${edgeText(engine)} as row, r.position ${placeBy(engine, 'r.position')}
        from notes as source
        inner join relations as r on r.from_id = source.id
        ${targetOf(engine)}
        where source.id = ${p('from_id')} and r.position > ${p('position')}
          and r.to_id is not null and r.is_repeat = 0 and target.project_id = source.project_id
          ${hasType ? sql`and ${isOfType(engine, 'target.type_key', p('typeKeys'))}` : sql``}
          ${hasFolder ? sql`and target.file_path > ${p('lower')} and target.file_path < ${p('upper')}` : sql``}
        order by r.position limit ${p('limit')}
      ) as rows`,
  ),
)

/** The edges of one note behind a place, `size` at a time: it may have more than fit into one answer. */
export async function* edgesBehind(
  reader: Reader,
  query: EdgesQuery,
  { from_id, position }: EdgePlace,
  size: number,
): AsyncGenerator<Chunk> {
  const { typeKeys, lower, upper } = inputOf(query, size)
  const next = rest(query.typeKeys !== null, query.folder !== null)
  let at: number | null = position
  while (at !== null) {
    const input: RestInput = { from_id, position: at, typeKeys, lower, upper, limit: size }
    const [row] = await reader.run(next, input)
    yield rowsOf(row).text
    at = row?.count === size ? row.position : null
  }
}
