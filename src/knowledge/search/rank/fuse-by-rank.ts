import type { Fused, Scored } from './fuse.ts'

// The usual constant: how much the first places of a list count more than the ones behind them.
const K = 60

/** Reciprocal rank fusion: of each way of searching only the order counts. Best first; equals stay in their order. */
export function fuseByRank(rows: readonly Scored[]): Fused[] {
  const scores = new Map<number, number>()
  const ways = [
    rows.flatMap(({ key, words }) => (words === null ? [] : [{ key, found: words }])),
    rows.flatMap(({ key, similarity }) => (similarity > 0 ? [{ key, found: similarity }] : [])),
  ]
  for (const way of ways) {
    way.sort((one, other) => other.found - one.found)
    for (const [place, { key }] of way.entries()) scores.set(key, (scores.get(key) ?? 0) + 1 / (K + place + 1))
  }
  return rows.map((row) => ({ ...row, score: scores.get(row.key) ?? 0 })).sort((one, other) => other.score - one.score)
}
