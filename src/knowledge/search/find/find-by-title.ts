import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import type { SearchFilters } from '../filter/filters.ts'
import { prepareFilters } from '../filter/passing-notes.ts'
import { all, nameExpression, scopeExpression } from '../index/match-expression.ts'
import { matchingRows } from '../index/store-search-index.ts'
import { type Node, parseQuestion } from '../question/question.ts'
import { rowOf } from '../row-number.ts'
import { indexWords } from '../words/search-text.ts'
import { stemOf } from '../words/stem.ts'
import { bestFirst, NO_ROWS, type OrderedRows } from './find-by-tree.ts'
import { searchedNotes, titlesOf } from './store-search-notes.ts'

const MOST_COMPARED = 5_000

/** Notes by the words of their titles; those first of whose title most was asked for. */
export async function findByTitle(
  reader: Reader,
  project: Project,
  text: string,
  filters: SearchFilters,
): Promise<OrderedRows> {
  const { engine } = reader
  const { tree, words } = parseQuestion(text)
  const prepared = prepareFilters(filters)
  if (tree === null || prepared.kinds === null) return NO_ROWS
  const scope = scopeExpression(engine, {
    projectId: project.id,
    isOnlyProject: false,
    scope: prepared.scope,
    without: prepared.without,
  })
  // What a note is called is more than its title, which is therefore compared.
  const names = nameExpression(engine, project.id, tree, true)
  const found = await matchingRows(reader, names === null ? scope : all(engine, names, scope), MOST_COMPARED + 1)
  const ids = found.slice(0, MOST_COMPARED).map((number) => rowOf(number).noteId)
  const titles = await titlesOf(reader, ids)
  const notes = prepared.mustCompare ? await searchedNotes(reader, project.id, ids) : null
  const scores = new Map<number, number>()
  const asked = spelling(text)
  for (const number of found.slice(0, MOST_COMPARED)) {
    const { noteId } = rowOf(number)
    const title = titles.get(noteId) ?? ''
    const own = indexWords(title)
    const note = notes?.get(noteId)
    if (!fits(tree, own) || (notes !== null && (note === undefined || !prepared.passes(note)))) continue
    // "C" has the words of "C++" and "C#", and is neither.
    scores.set(number, share(own, words) + (spelling(title) === asked ? 1 : 0))
  }
  const changedAt =
    notes === null || filters.after === undefined
      ? null
      : new Map([...scores.keys()].map((number) => [number, notes.get(rowOf(number).noteId)?.updated_at ?? 0]))
  const numbers = bestFirst(scores.keys(), scores, changedAt)
  return { numbers, scores, total: numbers.length, isExact: found.length <= MOST_COMPARED }
}

function spelling(text: string): string {
  return text.trim().normalize('NFC').toLowerCase()
}

function fits(node: Node, words: readonly string[]): boolean {
  switch (node.kind) {
    case 'word':
      return words.some((word) => word.startsWith(node.word) || (stemOf(word) ?? word) === (node.stem ?? node.word))
    case 'phrase':
      return words.some((_, start) =>
        node.words.every((word, index) => {
          const own = words[start + index] ?? ''
          return index === node.words.length - 1 && node.isBeginning ? own.startsWith(word) : own === word
        }),
      )
    case 'not':
      return !fits(node.part, words)
    case 'and':
      return node.parts.every((part) => fits(part, words))
    case 'or':
      return node.parts.some((part) => fits(part, words))
  }
}

/** From 0 to 1: how much of the title was asked for. A whole word counts twice as much as a beginning. */
function share(title: readonly string[], words: readonly string[]): number {
  const whole = title.filter((word) => words.includes(word)).length
  const begun = title.filter((word) => words.some((asked) => word.startsWith(asked))).length
  return (whole + begun) / (2 * Math.max(1, title.length))
}
