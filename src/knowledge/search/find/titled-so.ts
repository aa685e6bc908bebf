import type { Reader } from '../../../platform/storage/database.ts'
import { findNames } from '../../link/store-names.ts'
import type { Project } from '../../note/note.ts'
import { nameKey } from '../../text/name/name-key.ts'
import { matchingRowsOf } from '../index/store-search-index.ts'
import { rowNumber, rowOf } from '../row-number.ts'
import { indexWords } from '../words/search-text.ts'

const MOST_WORDS = 32
// Each may take the index milliseconds.
const MOST_LOOKED_UP = 20

/** Notes whose title is these words and nothing else, in whatever spelling. */
export async function titledSo(
  reader: Reader,
  project: Project,
  words: readonly string[],
  written = words.join(' '),
): Promise<Set<number>> {
  if (words.length === 0 || words.length > MOST_WORDS) return new Set()
  const asked = words.join(' ')
  const { names } = await findNames(reader, project.id, [nameKey(written)])
  return new Set(names.filter(({ title }) => indexWords(title).join(' ') === asked).map(({ id }) => id))
}

/** Of notes that are titled so those that match, without the rows that are known; the newest, where very many are titled the same. */
export async function matchingTitled(
  reader: Reader,
  expression: string,
  noteIds: ReadonlySet<number>,
  known: ReadonlySet<number>,
): Promise<number[]> {
  const others = [...noteIds].filter((id) => !known.has(rowNumber('note', id, 0))).sort((one, other) => other - one)
  const rows = await matchingRowsOf(reader, expression, others.slice(0, MOST_LOOKED_UP))
  return rows.filter((number) => rowOf(number).kind === 'note')
}
