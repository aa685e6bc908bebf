import type { Page } from '../find/find-rows.ts'

const MOST_CANDIDATES = 1_000

/** Which hits are shown, the first of which has this place in the whole list: of very many those up to the end of the page. */
export function candidateWindow({ offset, limit }: Page, first: number): { start: number; end: number } {
  const start = Math.max(0, offset + limit - first - MOST_CANDIDATES)
  return { start, end: start + MOST_CANDIDATES }
}
