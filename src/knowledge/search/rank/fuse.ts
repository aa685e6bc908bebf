/** A row with what each of the two ways of searching says of it. */
export interface Scored {
  key: number
  /** By words, 0 or more; null when they do not find it. */
  words: number | null
  /** By meaning, a cosine; 0 when it does not find it. */
  similarity: number
}

export interface Fused extends Scored {
  score: number
}

const SECOND_SHARE = 0.3

/** Best first. What both ways find comes before what one of them finds alike; equals stay in their order. */
export function fuse(rows: readonly Scored[]): Fused[] {
  const most = Math.max(0, ...rows.map(({ words }) => words ?? 0))
  return rows
    .map((row) => {
      const words = most === 0 ? 0 : (row.words ?? 0) / most
      const similarity = Math.max(0, row.similarity)
      return { ...row, score: Math.max(words, similarity) + SECOND_SHARE * Math.min(words, similarity) }
    })
    .sort((one, other) => other.score - one.score)
}
