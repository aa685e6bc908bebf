export interface RankingFigures {
  questions: number
  recallAt5: number
  recallAt10: number
  /** Mean of one over the rank of the first relevant note. */
  mrr: number
  ndcgAt10: number
}

/** Figures of one question: `ranked` ids, best first, against the relevant ones. */
export function figuresOf(ranked: readonly string[], relevant: readonly string[]): RankingFigures {
  const ranks = relevant.map((id) => ranked.indexOf(id)).map((rank) => (rank < 0 ? Number.POSITIVE_INFINITY : rank))
  const shareWithin = (first: number) => ranks.filter((rank) => rank < first).length / relevant.length
  const gain = (rank: number) => (rank < 10 ? 1 / Math.log2(rank + 2) : 0)
  const ideal = relevant.reduce((sum, _, rank) => sum + gain(rank), 0)
  return {
    questions: 1,
    recallAt5: shareWithin(5),
    recallAt10: shareWithin(10),
    mrr: 1 / (Math.min(...ranks) + 1),
    ndcgAt10: ranks.reduce((sum, rank) => sum + gain(rank), 0) / ideal,
  }
}

/** The mean over all questions, or, with `isEachAlike`, the mean of the given means. */
export function meanFigures(all: readonly RankingFigures[], isEachAlike = false): RankingFigures {
  const weightOf = (figures: RankingFigures) => (isEachAlike ? 1 : figures.questions)
  const weight = all.reduce((sum, figures) => sum + weightOf(figures), 0)
  const mean = (pick: (figures: RankingFigures) => number) =>
    all.reduce((sum, figures) => sum + weightOf(figures) * pick(figures), 0) / weight
  return {
    questions: all.reduce((sum, { questions }) => sum + questions, 0),
    recallAt5: mean((figures) => figures.recallAt5),
    recallAt10: mean((figures) => figures.recallAt10),
    mrr: mean((figures) => figures.mrr),
    ndcgAt10: mean((figures) => figures.ndcgAt10),
  }
}
