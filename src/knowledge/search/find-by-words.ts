import type { Reader } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import type { Main, SearchFilters } from './filter/filters.ts'
import { type Found, type FoundRow, findRows, type Page } from './find/find-rows.ts'
import type { RatedHit } from './hit.ts'
import { anyWord, isSpoken } from './question/any-word.ts'
import { parseTitle, type Question, relaxed } from './question/question.ts'
import { MOST_RANKED_CLOSELY, rankHits } from './rank-hits.ts'

export interface FoundByWords extends Omit<Found, 'rows'> {
  hits: RatedHit[]
  /** What was really asked. */
  question: Question | null
  /** Some of the words were enough. */
  isRelaxed: boolean
}

/**
 * Rows with all words, or, where nothing has them all, with some. Of a question as people speak it some are enough from the beginning:
 * the note that answers it seldom has every word of it, and what has more of them comes first.
 */
export async function findByWords(
  reader: Reader,
  project: Project,
  main: Main,
  filters: SearchFilters,
  page: Page,
): Promise<FoundByWords> {
  const spoken = main.mode === 'text' && isSpoken(main.question) ? anyWord(main.question) : null
  if (spoken !== null) return findSpoken(reader, project, spoken, filters, page)
  const { rows, ...found } = await findRows(reader, project, main, filters, page)
  const again = main.mode === 'text' && found.total === 0 ? relaxed(main.question) : null
  if (again === null) return { ...found, hits: rows.map(hitOf), question: questionOf(main), isRelaxed: false }
  const more = await findRows(reader, project, { mode: 'text', question: again }, filters, page)
  return { ...more, hits: more.rows.map(hitOf), question: again, isRelaxed: true }
}

async function findSpoken(
  reader: Reader,
  project: Project,
  question: Question,
  filters: SearchFilters,
  { limit, offset }: Page,
): Promise<FoundByWords> {
  // The best are put in order together, whichever page of them is asked for; the newest first is an order, too.
  const isRanked = offset < MOST_RANKED_CLOSELY && filters.after === undefined
  const wider = isRanked ? { offset: 0, limit: Math.max(MOST_RANKED_CLOSELY, offset + limit) } : { offset, limit }
  const { rows, ...found } = await findRows(reader, project, { mode: 'text', question }, filters, wider)
  const all = rows.map(hitOf)
  const ranked = isRanked ? await rankHits(reader, project, question.spoken, all, null, found.statistics) : all
  return { ...found, hits: ranked.slice(offset - wider.offset).slice(0, limit), question, isRelaxed: true }
}

function hitOf(row: FoundRow): RatedHit {
  return { ...row, words: row.score, similarity: 0, chunks: [] }
}

/** What to mark in texts. */
function questionOf(main: Main): Question | null {
  if (main.mode === 'text') return main.question
  return main.mode === 'title' ? parseTitle(main.text) : null
}
