import type { Database } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import { LONGEST_DOCUMENT, type Reranker } from '../../semantic/rerank/reranker.ts'
import { hitKey, type RatedHit } from '../hit.ts'
import { textsOf } from '../rank-hits.ts'

/**
 * The best hits, sorted again by how well a service says that their texts answer. They share the scores that they had, so that all
 * scores still fall from the first to the last.
 */
export async function rerankHits(
  { db, reranker }: { db: Database; reranker: Reranker },
  project: Project,
  hits: readonly RatedHit[],
  question: string,
): Promise<RatedHit[]> {
  const first = hits.slice(0, reranker.candidates)
  const texts = await db.read((snapshot) => textsOf(snapshot, project, first, { question, longest: LONGEST_DOCUMENT }))
  const there = first.filter((hit) => texts.has(hitKey(hit)))
  if (there.length < 2) return [...hits]
  const documents = there.map((hit) => {
    const { title = '', text = '' } = texts.get(hitKey(hit)) ?? {}
    return `${title}\n\n${text}`.trim().slice(0, LONGEST_DOCUMENT).toWellFormed()
  })
  const relevance = await reranker.relevance(question, documents)
  const order = there
    .map((_, at) => at)
    .sort((one, other) => {
      const [a, b] = [judgedAt(relevance, one), judgedAt(relevance, other)]
      return a === b ? one - other : b > a ? 1 : -1
    })
  const sorted = order.map((at, place): RatedHit => {
    const { score } = there[place] as RatedHit
    const own = relevance[at]
    return { ...(there[at] as RatedHit), score, ...(own !== undefined && { relevance: own }) }
  })
  return [...sorted, ...hits.slice(reranker.candidates)]
}

/** What the service left out is behind what it did not. */
function judgedAt(relevance: readonly (number | undefined)[], at: number): number {
  return relevance[at] ?? Number.NEGATIVE_INFINITY
}
