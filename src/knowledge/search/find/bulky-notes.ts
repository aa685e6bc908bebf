import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import type { PreparedFilters } from '../filter/passing-notes.ts'
import { type MatchScope, scopeExpression } from '../index/match-expression.ts'
import { BULKY_PART, bulkyPartWord, bulkyWord } from '../index/search-scope.ts'
import { matchingRows } from '../index/store-search-index.ts'
import { rowOf } from '../row-number.ts'

// Hardly anybody has one: thousands of observations in a note with hundreds of values in its frontmatter.
const MOST_BULKY = 1_000

interface PassingScope {
  scope: MatchScope
  /** False: parts of some notes are missing. */
  isWhole: boolean
}

/**
 * What rows have that pass, as far as words tell. Parts of bulky notes do not have what filters ask of their notes: which of those notes
 * pass is looked up first, and their parts are asked for by name.
 */
export async function passingScope(
  reader: Reader,
  { id: projectId }: Project,
  { ofNotes, ofRows, without }: PreparedFilters,
  isOnlyProject: boolean,
): Promise<PassingScope> {
  const scope: MatchScope = { projectId, isOnlyProject, scope: [...ofNotes, ...ofRows], without }
  if (ofNotes.length === 0 && without.length === 0) return { scope, isWhole: true }
  const bulky = { projectId, isOnlyProject: true, scope: [[bulkyWord(projectId)], ...ofNotes], without }
  const rows = await matchingRows(reader, scopeExpression(reader.engine, bulky), MOST_BULKY + 1)
  const names = rows.slice(0, MOST_BULKY).map((number) => bulkyPartWord(rowOf(number).noteId))
  return {
    scope: {
      ...scope,
      // Whatever must not be there is missing in all of them.
      without: ofNotes.length > 0 ? without : [...without, [BULKY_PART]],
      or: names.length === 0 ? undefined : [names, ...ofRows],
    },
    isWhole: rows.length <= MOST_BULKY,
  }
}
