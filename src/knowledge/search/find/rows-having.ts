import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import { isCollectedEachTime, matchExpression } from '../index/match-expression.ts'
import { beginningsOf, matchingRows } from '../index/store-search-index.ts'
import type { Node } from '../question/question.ts'
import { COMPARE_LIMITS, type CompareLimits } from './compared-rows.ts'
import { begunWords } from './find-by-tree.ts'
import { KnownRows } from './known-rows.ts'
import { isOnlyProject, noteNumber } from './store-search-notes.ts'

/** Rows of these notes, by number, that have what the tree says. The caller awaits `searchIndex.catchUp()` first. */
export async function rowsHaving(
  reader: Reader,
  project: Project,
  tree: Node,
  noteIds: readonly number[],
  limits: CompareLimits = COMPARE_LIMITS[reader.engine],
): Promise<Set<number>> {
  if (noteIds.length === 0) return new Set()
  const notes = reader.engine === 'sqlite' ? await noteNumber(reader) : Number.POSITIVE_INFINITY
  const expression = matchExpression(reader.engine, {
    projectId: project.id,
    isOnlyProject: await isOnlyProject(reader),
    scope: [],
    tree,
    beginnings: await beginningsOf(reader, begunWords(tree), notes),
    common: new Set(),
    notes,
  })
  // One look at all of them takes as long then as one at a page, or at a single note.
  const lookedUp = isCollectedEachTime(expression) ? noteIds.length : limits.lookedUp
  const found = await matchingRows(reader, expression, limits.rows + 1)
  const first = { numbers: found.slice(0, limits.rows), isLast: found.length <= limits.rows }
  return new Set(await new KnownRows(reader, expression, first, { ...limits, lookedUp }).rowsOf(noteIds))
}
