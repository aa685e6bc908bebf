import type { Reader } from '../../platform/storage/database.ts'
import type { Chunk } from '../snapshot/snapshot-stream.ts'
import { encodePathCursor, type PathCursor } from './path-cursor.ts'
import { countNodes, nodesOf, pathOfNode } from './store-nodes.ts'
import { pathRanges } from './store-paths.ts'
import { withoutFirstComma } from './write-graph.ts'

export interface OrphansQuery {
  projectId: number
  limit: number | null
  /** Of the page before: it carries the total, so that all notes are looked at only once. */
  cursor: PathCursor | null
}

const NOTES_PER_RANGE = 1_000

/** Notes that nothing leads from or to, by path. The total comes last, when all have been seen. */
export async function* orphansText(
  reader: Reader,
  { projectId, limit, cursor }: OrphansQuery,
  size = NOTES_PER_RANGE,
): AsyncGenerator<Chunk> {
  const rows = withoutFirstComma()
  let left = limit ?? Number.MAX_SAFE_INTEGER
  let total = 0
  let last: string | null = null
  for await (const range of pathRanges(reader, projectId, { folder: null, after: cursor?.path ?? null, size })) {
    const query = { projectId, ...range, typeKeys: null, isOrphan: true }
    if (left === 0) {
      total += await countNodes(reader, query)
      yield ''
      continue
    }
    const { text, count } = await nodesOf(reader, query, left)
    yield* rows(text, '{"entities":[')
    total += count
    left -= count
    if (left > 0) continue
    last = await pathOfNode(reader, query, count)
    if (cursor !== null) break
    total += await countNodes(reader, { ...query, after: last })
  }
  yield* rows('', '{"entities":[')
  if (limit === null) yield `],"total":${total}}`
  else {
    total = cursor?.total ?? total
    const isAll = cursor === null && total <= limit
    const next = last === null || isAll ? null : encodePathCursor({ path: last, total })
    yield `],"total":${total},"next_cursor":${JSON.stringify(next)}}`
  }
}
