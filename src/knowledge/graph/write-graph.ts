import type { Reader } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import type { Chunk } from '../snapshot/snapshot-stream.ts'
import { encodePathCursor } from './path-cursor.ts'
import { type EdgesQuery, edgesBehind, edgesOf, placeOfEdge } from './store-edges.ts'
import { nodesOf, pathOfNode } from './store-nodes.ts'
import { type PathRange, pathRanges } from './store-paths.ts'

export interface GraphQuery {
  projectId: number
  /** Canonical, in every Unicode form; null for all. */
  typeKeys: readonly string[] | null
  folder: string | null
  /** Null for the whole graph; else so many nodes and `next_cursor`. */
  limit: number | null
  /** The path of the last node of the page before. */
  after: string | null
}

export interface GraphSizes {
  notesPerRange: number
  edgesPerChunk: number
}

// SQLite reads one piece of the answer without a turn for others: a few milliseconds. PostgreSQL is asked less often.
const SIZES: Record<Engine, GraphSizes> = {
  sqlite: { notesPerRange: 256, edgesPerChunk: 4_000 },
  postgres: { notesPerRange: 1_024, edgesPerChunk: 8_000 },
}

/** The nodes by path, then their edges by path and order in the text; never more than one piece in memory. */
export async function* graphText(
  reader: Reader,
  query: GraphQuery,
  sizes = SIZES[reader.engine],
): AsyncGenerator<Chunk> {
  const { projectId, folder, after } = query
  const written: PathRange[] = []
  let left = query.limit ?? Number.MAX_SAFE_INTEGER
  let next: string | null = null
  const first = withoutFirstComma()
  for await (const range of pathRanges(reader, projectId, { folder, after, size: sizes.notesPerRange })) {
    const nodes = { ...query, ...range, isOrphan: false }
    const { text, count } = await nodesOf(reader, nodes, left)
    yield* first(text, '{"nodes":[')
    left -= count
    const upto = left > 0 ? range.upto : await pathOfNode(reader, nodes, count)
    written.push({ after: range.after, upto })
    if (left > 0) continue
    if (upto !== range.upto || !range.isLast) next = upto
    break
  }
  yield* first('', '{"nodes":[')
  const firstEdge = withoutFirstComma()
  for (const range of written) {
    for await (const text of edgesIn(reader, { ...query, ...range }, sizes.edgesPerChunk)) {
      yield* firstEdge(text, '],"edges":[')
    }
  }
  yield* firstEdge('', '],"edges":[')
  if (query.limit === null) yield ']}'
  else yield `],"next_cursor":${JSON.stringify(next === null ? null : encodePathCursor({ path: next, total: 0 }))}}`
}

async function* edgesIn(reader: Reader, query: EdgesQuery, size: number): AsyncGenerator<Chunk> {
  for (let after: string | undefined = query.after; after !== undefined; ) {
    const part: EdgesQuery = { ...query, after }
    const { text, count } = await edgesOf(reader, part, size)
    yield text
    if (count < size) return
    // Which was the last is asked only here, since few ranges have so many.
    const place = await placeOfEdge(reader, part, size)
    if (place !== undefined) yield* edgesBehind(reader, part, place, size)
    after = place?.file_path
  }
}

/**
 * Puts `begin` before the first piece, and takes the comma of its first row away. Of what has no rows there is an empty piece:
 * others have a turn after each.
 */
export function withoutFirstComma(): (text: Chunk, begin: string) => Chunk[] {
  let hasBegun = false
  let hasRows = false
  return (text, begin) => {
    const before = hasBegun ? [] : [begin]
    hasBegun = true
    if (text.length === 0) return before.length === 0 ? [''] : before
    const rows = hasRows ? text : typeof text === 'string' ? text.slice(1) : text.subarray(1)
    hasRows = true
    return [...before, rows]
  }
}
