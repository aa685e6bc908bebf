import type { Reader } from '../../../platform/storage/database.ts'
import { readTallies } from '../../../platform/tally/store.ts'
import type { Project } from '../../note/note.ts'
import { noteTally } from '../../project/note-tally.ts'
import { exactExpression, formExpression, type MatchScope, scopeExpression } from '../index/match-expression.ts'
import { KIND_WORDS } from '../index/search-scope.ts'
import { type AskedNotes, countEach, countNotesEach, firstMatching, type Holding } from '../index/store-search-index.ts'
import { rowOf } from '../row-number.ts'

export interface WordStatistics {
  /** How many notes the project has. */
  notes: number
  /** How many of them have the word or another form of it; of a common one an estimate. */
  holding: ReadonlyMap<string, number>
  /** Words of more notes than are counted. */
  common: ReadonlySet<string>
}

const NOTHING_KNOWN: WordStatistics = { notes: 0, holding: new Map(), common: new Set() }

const COUNTED = 100

/**
 * What is known of words in a project. Of each, no more rows are read than are counted; how often a common one stands in all notes
 * is told from how far back the newest of them reach. What is known already is not read again.
 */
export async function wordStatistics(
  reader: Reader,
  project: Project,
  words: Iterable<string>,
  isOnlyProject: boolean,
  known: WordStatistics = NOTHING_KNOWN,
): Promise<WordStatistics> {
  const unique = [...new Set(words)].filter((word) => !known.holding.has(word))
  if (unique.length === 0 && known.holding.size > 0) return known
  const scope = notesOf(project, isOnlyProject)
  const tallies = await readTallies(reader, [noteTally(project.id)])
  const counted = await countNotesEach(
    reader,
    unique.map((word) => ofNotes(scope, (within) => formExpression(reader.engine, within, word))),
    COUNTED,
  )
  const notes = Math.max(tallies.get(noteTally(project.id)) ?? 0, ...counted.map(({ count }) => count), 0)
  const common = new Set(unique.filter((_, index) => (counted[index]?.count ?? 0) >= COUNTED))
  const span = common.size === 0 ? null : await spanOf(reader, scopeExpression(reader.engine, scope))
  const holding = unique.map((word, index): [string, number] => {
    const { count, lowest } = counted[index] as Holding
    return [word, common.has(word) ? estimate(count, lowest, span, notes) : count]
  })
  return {
    notes: Math.max(notes, known.notes),
    holding: new Map([...known.holding, ...holding]),
    common: new Set([...known.common, ...common]),
  }
}

/** Which of these words, not only other forms of them, are common. */
export async function commonAsWritten(
  reader: Reader,
  project: Project,
  words: readonly string[],
  isOnlyProject: boolean,
): Promise<ReadonlySet<string>> {
  const scope = notesOf(project, isOnlyProject)
  const asked = words.map((word) => ofNotes(scope, (within) => exactExpression(reader.engine, within, word)))
  const counts = await countNotesEach(reader, asked, COUNTED)
  return new Set(words.filter((_, index) => (counts[index]?.count ?? 0) >= COUNTED))
}

function notesOf({ id }: Project, isOnlyProject: boolean): MatchScope {
  return { projectId: id, isOnlyProject, scope: [[KIND_WORDS.note]] }
}

function ofNotes(scope: MatchScope, expression: (within: MatchScope) => string): AskedNotes {
  return { anyKind: expression({ ...scope, scope: [] }), notes: expression(scope) }
}

interface Span {
  first: number
  last: number
}

async function spanOf(reader: Reader, expression: string): Promise<Span | null> {
  const first = await firstMatching(reader, expression)
  const [last] = await countEach(reader, [expression], 1)
  if (first === null || last === undefined || last.lowest === null) return null
  return { first: rowOf(first).noteId, last: rowOf(last.lowest).noteId }
}

function estimate(count: number, lowest: number | null, span: Span | null, notes: number): number {
  if (span === null || lowest === null) return count
  const share = (span.last - rowOf(lowest).noteId + 1) / (span.last - span.first + 1)
  return Math.min(Math.max(notes, count), Math.max(count, Math.round(count / share)))
}
