import type { NearChunk } from '../../semantic/search/near-chunk.ts'
import type { FoundRow } from '../find/find-rows.ts'
import { hitKey, type RatedHit } from '../hit.ts'
import { fuse } from '../rank/fuse.ts'
import { fuseByRank } from '../rank/fuse-by-rank.ts'
import { nearRows } from './near-rows.ts'

/** What both ways of searching found, each best first. */
export interface FoundBothWays {
  chunks: readonly NearChunk[]
  /** Rows that may be found by their meaning alone: near enough, and passing the filters. */
  nearKeys: ReadonlySet<number>
  words: readonly FoundRow[]
  /** Where quotes and operators say what is to be found: what that is, also beyond the rows above. None of a plain question. */
  wordKeys: ReadonlySet<number>
}

export type Fusion = 'weighted' | 'rrf'

/**
 * Best first, one list for each depth; rows are repeated. A list is made of so many chunks and rows and of nothing behind them, so a
 * page far behind, for which more is looked at, changes nothing before it.
 */
export function fuseHits(found: FoundBothWays, depths: readonly number[], fusion: Fusion): RatedHit[][] {
  const { chunks, words } = found
  return depths.map((depth) =>
    fuseSome({ ...found, chunks: chunks.slice(0, depth), words: words.slice(0, depth) }, fusion),
  )
}

/** What is not near enough to be found by its meaning alone still helps what has the words. */
function fuseSome({ chunks, words, nearKeys, wordKeys }: FoundBothWays, fusion: Fusion): RatedHit[] {
  const hits = new Map<number, RatedHit>()
  for (const row of words) hits.set(hitKey(row), { ...row, words: row.score, similarity: 0, chunks: [] })
  for (const row of nearRows(chunks)) {
    const key = hitKey(row)
    const known = hits.get(key)
    if (known !== undefined) [known.similarity, known.chunks] = [row.similarity, row.chunks]
    else if (nearKeys.has(key)) hits.set(key, { ...row, words: wordKeys.has(key) ? 0 : null, score: 0 })
  }
  const rated = Array.from(hits, ([key, { words: own, similarity }]) => ({ key, words: own, similarity }))
  const fused = fusion === 'rrf' ? fuseByRank(rated) : fuse(rated)
  return fused.map(({ key, score }) => ({ ...(hits.get(key) as RatedHit), score }))
}

/** One list of all, no row twice, with scores that fall from the first to the last. */
export function joinHits(lists: readonly RatedHit[][]): RatedHit[] {
  const joined: RatedHit[] = []
  const seen = new Set<number>()
  for (const list of lists) {
    const others = list.filter((hit) => !seen.has(hitKey(hit)))
    const least = joined.at(-1)?.score
    const most = others[0]?.score ?? 0
    const factor = least === undefined || most <= least ? 1 : least / Math.max(1, most)
    for (const hit of others) {
      seen.add(hitKey(hit))
      joined.push(factor === 1 ? hit : { ...hit, score: factor * hit.score })
    }
  }
  return joined
}
