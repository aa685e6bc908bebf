import type { Reader } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import type { Main } from './filter/filters.ts'
import { type AskedRows, type Found, type FoundRow, findRows } from './find/find-rows.ts'
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
export async function findByWords(reader: Reader, project: Project, asked: AskedRows): Promise<FoundByWords> {
  const { main } = asked
  const spoken = main.mode === 'text' && isSpoken(main.question) ? anyWord(main.question) : null
  if (spoken !== null) return findSpoken(reader, project, spoken, asked)
  const { rows, ...found } = await findRows(reader, project, asked)
  const again = main.mode === 'text' && found.total === 0 ? relaxed(main.question) : null
  const question = questionOf(main)
  if (again === null)
    return { ...found, hits: rows.map(question === null ? hitWithoutWords : hitOf), question, isRelaxed: false }
  const more = await findRows(reader, project, { ...asked, main: { mode: 'text', question: again } })
  return { ...more, hits: more.rows.map(hitOf), question: again, isRelaxed: true }
}

async function findSpoken(
  reader: Reader,
  project: Project,
  question: Question,
  { filters, page: { limit, offset } }: AskedRows,
): Promise<FoundByWords> {
  // The best are put in order together, whichever page of them is asked for; the newest first is an order, too.
  const isRanked = offset < MOST_RANKED_CLOSELY && filters.after === undefined
  const page = isRanked ? { offset: 0, limit: Math.max(MOST_RANKED_CLOSELY, offset + limit) } : { offset, limit }
  const { rows, ...found } = await findRows(reader, project, { main: { mode: 'text', question }, filters, page })
  const all = rows.map(hitOf)
  const ranked = isRanked
    ? await rankHits(reader, project, all, { question: question.spoken, statistics: found.statistics })
    : all
  return { ...found, hits: ranked.slice(offset - page.offset).slice(0, limit), question, isRelaxed: true }
}

function hitOf(row: FoundRow): RatedHit {
  return { ...row, words: row.score, similarity: 0, chunks: [] }
}

/** Found by filters or a permalink alone. */
function hitWithoutWords(row: FoundRow): RatedHit {
  return { ...hitOf(row), words: null }
}

/** What to mark in texts. */
function questionOf(main: Main): Question | null {
  if (main.mode === 'text') return main.question
  return main.mode === 'title' ? parseTitle(main.text) : null
}
