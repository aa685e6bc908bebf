import type { Reader } from '../../../platform/storage/database.ts'
import { findNames } from '../../link/store-names.ts'
import type { Project } from '../../note/note.ts'
import { nameKey } from '../../text/name/name-key.ts'
import { matchingRowsOf } from '../index/store-search-index.ts'
import { rowNumber, rowOf } from '../row-number.ts'
import { TITLE_MATCH, type TitleMatch, type WrittenTitle } from '../words/written-title.ts'

// Each may take the index milliseconds.
const MOST_LOOKED_UP = 20

/** By note: those whose title is what was written and nothing else, in whatever spelling. */
export async function titledSo(
  reader: Reader,
  project: Project,
  written: WrittenTitle,
): Promise<Map<number, TitleMatch>> {
  const titled = new Map<number, TitleMatch>()
  if (!written.isPossible) return titled
  const { names } = await findNames(reader, project.id, [nameKey(written.text)])
  for (const { id, title } of names) {
    const match = written.match(title)
    if (match !== TITLE_MATCH.none) titled.set(id, match)
  }
  return titled
}

/** Of notes that are titled so those that match, without the rows that are known; the newest, where very many are titled the same. */
export async function matchingTitled(
  reader: Reader,
  expression: string,
  noteIds: Iterable<number>,
  known: ReadonlySet<number>,
): Promise<number[]> {
  const others = [...noteIds].filter((id) => !known.has(rowNumber('note', id, 0))).sort((one, other) => other - one)
  const rows = await matchingRowsOf(reader, expression, others.slice(0, MOST_LOOKED_UP))
  return rows.filter((number) => rowOf(number).kind === 'note')
}
