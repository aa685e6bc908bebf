import { AppError } from '../../../platform/errors/app-error.ts'
import { answeredList } from '../answered-list.ts'

/** `{results: [{index, relevance_score}]}` by text. `bad_gateway` for whatever is wrong with it. */
export function readRelevance(body: Uint8Array, count: number, who: string): (number | undefined)[] {
  const scores: (number | undefined)[] = Array.from({ length: count })
  const list = answeredList(body, 'results', 'results')
  if (typeof list === 'string') throw misunderstood(who, list)
  for (const item of list) {
    const { index, relevance_score: score } = (item ?? {}) as { index?: unknown; relevance_score?: unknown }
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw misunderstood(who, 'judged a text that it was not asked about')
    }
    if (scores[index] !== undefined) throw misunderstood(who, 'judged a text twice')
    if (typeof score !== 'number' || !Number.isFinite(score)) {
      throw misunderstood(who, 'gave a relevance_score that is no number')
    }
    scores[index] = score
  }
  return scores
}

function misunderstood(who: string, what: string): AppError {
  return new AppError('bad_gateway', `${who} ${what}`)
}
