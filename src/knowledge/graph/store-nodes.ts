import { type RawBuilder, sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { unplanned } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'
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

export interface NodesQuery extends PathRange {
  projectId: number
  /** Canonical, in every Unicode form; null for all. */
  typeKeys: readonly string[] | null
  /** Only notes that have no relation and that none leads to. */
  isOrphan: boolean
}

type Input = Pick<NodesQuery, 'projectId' | 'after' | 'upto'> & { typeKeys: string; limit: number }

function inputOf({ projectId, after, upto, typeKeys }: NodesQuery, limit: number): Input {
  return { projectId, after, upto, typeKeys: JSON.stringify(typeKeys), limit }
}

function conditions(p: Parameter<Input>, engine: Engine, hasType: boolean, isOrphan: boolean): RawBuilder<unknown> {
  return sql`project_id = ${p('projectId')} and file_path > ${p('after')} and file_path <= ${p('upto')}
    ${hasType ? sql`and ${isOfType(engine, 'type_key', p('typeKeys'))}` : sql``}
    ${isOrphan ? sql`and ${NO_RELATION}` : sql``}`
}

// Not as "not exists": PostgreSQL would read all relations to join them with a few hundred notes.
const NO_RELATION = sql`(select 1 from relations where from_id = notes.id limit 1) is null
  and (select 1 from relations where to_id = notes.id limit 1) is null`

const rows = byConditions((hasType, isOrphan) =>
  statement<Input, RawJsonRows>(
    (_query, p, engine) => sql`
      select ${joined(engine)} as text, count(*) as count from (
        select ',{"external_id":"' || external_id || '","title":' || ${quoted(engine, 'title')}
          || ',"note_type":' || ${quoted(engine, 'note_type')}
          || ',"file_path":' || ${quoted(engine, 'file_path')} || '}' as row ${placeBy(engine, 'file_path')}
        from notes where ${conditions(p, engine, hasType, isOrphan)}
        order by file_path limit ${unplanned(engine, p('limit'))}
      ) as rows`,
  ),
)

/** At most `limit` notes of a range as graph nodes, in the order of their paths. */
export async function nodesOf(reader: Reader, query: NodesQuery, limit: number): Promise<JsonRows> {
  const [row] = await reader.run(rows(query.typeKeys !== null, query.isOrphan), inputOf(query, limit))
  return rowsOf(row)
}

const count = byConditions((hasType, isOrphan) =>
  statement<Input, { count: number }>(
    (_query, p, engine) => sql`select count(*) as count from notes where ${conditions(p, engine, hasType, isOrphan)}`,
  ),
)

export async function countNodes(reader: Reader, query: NodesQuery): Promise<number> {
  const [row] = await reader.run(count(query.typeKeys !== null, query.isOrphan), inputOf(query, 0))
  return row?.count ?? 0
}

const nth = byConditions((hasType, isOrphan) =>
  statement<Input, { file_path: string }>(
    (_query, p, engine) => sql`
      select file_path from notes where ${conditions(p, engine, hasType, isOrphan)}
      order by file_path limit 1 offset ${p('limit')}`,
  ),
)

/** The path of the note number `n` of a range, from 1; the end of the range when there are fewer. */
export async function pathOfNode(reader: Reader, query: NodesQuery, n: number): Promise<string> {
  const [row] = await reader.run(nth(query.typeKeys !== null, query.isOrphan), inputOf(query, n - 1))
  return row?.file_path ?? query.upto
}
