import type { Micros } from '../../../platform/clock/clock.ts'
import type { Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import { turnAfter } from '../../text/steps.ts'
import type { SearchFilters } from '../filter/filters.ts'
import { type PreparedFilters, prepareFilters } from '../filter/passing-notes.ts'
import { all, nameExpression, scopeExpression } from '../index/match-expression.ts'
import { type Node, parseTitle } from '../question/question.ts'
import { rowOf } from '../row-number.ts'
import { indexWords } from '../words/search-text.ts'
import { stemOf } from '../words/stem.ts'
import { TITLE_MATCH, type TitleMatch, WrittenTitle } from '../words/written-title.ts'
import { bestFirst, NO_ROWS, type OrderedRows } from './find-by-tree.ts'
import { matchingPages } from './matching-pages.ts'
import { type SearchedNote, searchedNotes, titlesOf } from './store-search-notes.ts'
import { matchingTitled, titledSo } from './titled-so.ts'

/** How far is looked where many notes are called like it. */
export interface TitleLimits {
  /** Notes that are put in one order. */
  rows: number
  /** Notes that are looked at while too few of them fit. */
  allRows: number
}

const LIMITS: TitleLimits = { rows: 5_000, allRows: 50_000 }
/** So many are compared before others have their turn. */
const TITLES_AT_ONCE = 200
const NO_NOTES: ReadonlyMap<number, TitleMatch> = new Map()
/** No word that titles could have: only what is titled just so. */
const ONE_EMPTY_PAGE = [{ numbers: [], isLast: true }]

export interface AskedTitle {
  text: string
  filters: SearchFilters
  /** How many rows from the first one on. */
  wanted: number
  limits?: TitleLimits
}

interface TitleSearch {
  reader: Reader
  project: Project
  /** Null: nothing but signs. */
  tree: Node | null
  words: readonly string[]
  /** All of the text, operators as well: a note may be titled so. */
  written: WrittenTitle
  prepared: PreparedFilters
}

/** Notes by the words of their titles; those first of whose title most was asked for. */
export async function findByTitle(
  reader: Reader,
  project: Project,
  { text, filters, wanted, limits = LIMITS }: AskedTitle,
): Promise<OrderedRows> {
  const { engine } = reader
  const { tree, words } = parseTitle(text)
  const written = new WrittenTitle(text)
  const prepared = prepareFilters(filters)
  if (prepared.kinds === null) return NO_ROWS
  const scope = scopeExpression(engine, {
    projectId: project.id,
    isOnlyProject: false,
    scope: [...prepared.ofNotes, ...prepared.ofRows],
    without: prepared.without,
  })
  // What a note is called is more than its title, which is therefore compared.
  const names = tree === null ? null : nameExpression(engine, project.id, tree, true)
  const expression = names === null ? scope : all(engine, names, scope)
  const pages = tree === null ? ONE_EMPTY_PAGE : matchingPages(reader, expression, limits)
  const search: TitleSearch = { reader, project, tree, words, written, prepared }
  // In their order.
  const scores = new Map<number, number>()
  const changedAt = filters.after === undefined ? null : new Map<number, Micros>()
  let least = Number.POSITIVE_INFINITY
  let isFirst = true
  let isExact = false
  for await (const { numbers, isLast } of pages) {
    const titled = isFirst ? await titledSo(reader, project, written) : NO_NOTES
    const older = await matchingTitled(reader, scope, titled.keys(), new Set(numbers))
    const added = new Map<number, number>()
    for (const { number, score, note } of await fittingRows(search, [...older, ...numbers])) {
      if (scores.has(number)) continue
      // What was put in order before stays in front.
      added.set(number, Math.min(score, least))
      changedAt?.set(number, note?.updated_at ?? 0)
    }
    for (const number of bestFirst(added.keys(), added, null)) {
      least = added.get(number) as number
      scores.set(number, least)
    }
    isFirst = false
    isExact = isLast
    // Which ones changed last is known when all were looked at.
    if (changedAt === null && scores.size >= wanted) break
  }
  const numbers = changedAt === null ? [...scores.keys()] : bestFirst(scores.keys(), scores, changedAt)
  return { numbers, scores, total: numbers.length, isExact }
}

interface FittingRow {
  number: number
  score: number
  /** Where it had to be looked at. */
  note: SearchedNote | undefined
}

async function fittingRows(search: TitleSearch, numbers: readonly number[]): Promise<FittingRow[]> {
  const { reader, project, tree, words, written, prepared } = search
  const ids = numbers.map((number) => rowOf(number).noteId)
  const titles = await titlesOf(reader, ids)
  const notes = prepared.mustCompare ? await searchedNotes(reader, project.id, ids) : null
  const asked = { words, forms: new Set(words.map(formOf)) }
  const breathe = turnAfter(TITLES_AT_ONCE)
  const fitting: FittingRow[] = []
  for (const number of numbers) {
    await breathe(1)
    const { noteId } = rowOf(number)
    const title = titles.get(noteId) ?? ''
    const match = written.match(title)
    const own = indexWords(title).map((word): TitleWord => ({ word, form: formOf(word) }))
    const note = notes?.get(noteId)
    const isFitting = match !== TITLE_MATCH.none || (tree !== null && fits(tree, own))
    if (!isFitting || (notes !== null && (note === undefined || !prepared.passes(note)))) continue
    fitting.push({ number, score: match === TITLE_MATCH.none ? share(own, asked) : match, note })
  }
  return fitting
}

interface TitleWord {
  word: string
  /** What all words of its stem have in common. */
  form: string
}

function formOf(word: string): string {
  return stemOf(word) ?? word
}

function fits(node: Node, words: readonly TitleWord[]): boolean {
  switch (node.kind) {
    case 'word': {
      const asked = formOf(node.word)
      return words.some(({ word, form }) => word.startsWith(node.word) || form === asked)
    }
    case 'phrase':
      return words.some((_, start) =>
        node.words.every((word, index) => {
          const own = words[start + index]?.word ?? ''
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

/** From 0 to 1: how much of the title was asked for. A whole word counts twice as much as a beginning or another form. */
function share(
  title: readonly TitleWord[],
  { words, forms }: { words: readonly string[]; forms: ReadonlySet<string> },
): number {
  const whole = title.filter(({ word }) => words.includes(word)).length
  const begun = title.filter(
    ({ word, form }) => forms.has(form) || words.some((asked) => word.startsWith(asked)),
  ).length
  return (whole + begun) / (2 * Math.max(1, title.length))
}
