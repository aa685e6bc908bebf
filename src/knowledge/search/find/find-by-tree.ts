import type { Reader } from '../../../platform/storage/database.ts'
import type { Engine } from '../../../platform/storage/engine.ts'
import type { Project } from '../../note/note.ts'
import type { SearchFilters } from '../filter/filters.ts'
import { type PreparedFilters, prepareFilters } from '../filter/passing-notes.ts'
import {
  all,
  type Beginning,
  isApproximate,
  isSlowlyCollected,
  isUnlimited,
  type MatchInput,
  matchExpression,
  nameExpression,
} from '../index/match-expression.ts'
import { beginningsOf, matchingRows } from '../index/store-search-index.ts'
import type { Node } from '../question/question.ts'
import { STOP_WORDS } from '../question/stop-words.ts'
import { rowNumber, rowOf } from '../row-number.ts'
import { TITLE_MATCH, type TitleMatch, WrittenTitle } from '../words/written-title.ts'
import { passingScope } from './bulky-notes.ts'
import { type Candidates, FEW_RANKED, MOST_COUNTED, MOST_RANKED, newestRows } from './candidates.ts'
import { type ComparedSearch, comparedRows, passingRows } from './compared-rows.ts'
import { scoreRows } from './score-rows.ts'
import { isOnlyProject, noteNumber } from './store-search-notes.ts'
import { matchingTitled, titledSo } from './titled-so.ts'
import { commonAsWritten, type WordStatistics, wordStatistics } from './word-statistics.ts'

/** Rows in their order, as many as are wanted. */
export interface OrderedRows {
  numbers: number[]
  scores: ReadonlyMap<number, number>
  total: number
  /** False: there are at least so many. */
  isExact: boolean
  /** What was learnt about the words. */
  statistics?: WordStatistics
}

export interface AskedTree {
  tree: Node
  /** The words that the order is made from. */
  words: readonly string[]
  /** What was asked, as it was written: a note may be titled so. */
  written: string
  filters: SearchFilters
  /** How many rows from the first one on. */
  wanted: number
  /** False: nobody asks how many there are. */
  isCounted: boolean
}

export const NO_ROWS: OrderedRows = { numbers: [], scores: new Map(), total: 0, isExact: true }

const MOST_PROMISING = 500
// Among these, words that begin with a common one are collected like all others.
const FEW_NOTES_IN_ALL = 3_000
// Notes that PostgreSQL may have to collect for one word.
const MOST_COLLECTED = 5_000

export async function findByTree(reader: Reader, project: Project, asked: AskedTree): Promise<OrderedRows> {
  const { tree, words, filters, wanted, isCounted } = asked
  const { engine } = reader
  const prepared = prepareFilters(filters)
  if (prepared.kinds === null) return NO_ROWS
  const { narrow, statistics, isWhole } = await firstInput(reader, project, asked, prepared)
  const most = isCounted ? MOST_RANKED : FEW_RANKED
  const ask = async (input: MatchInput) => {
    const expression = matchExpression(engine, input)
    const compared: ComparedSearch | null = prepared.mustCompare
      ? { reader, project, expression, filters, prepared }
      : null
    const found =
      compared === null
        ? await newestRows(reader, expression, most, isCounted || wanted > most)
        : await comparedRows(compared, Math.max(most, Math.min(wanted, MOST_COUNTED)))
    return { input, expression, compared, found }
  }
  const first = await ask(narrow)
  const mayMissSome = first.found.isExact && first.found.numbers.length < most
  const closer = mayMissSome ? withBeginnings(first.input, statistics) : null
  const { input, expression, compared, found } = closer === null ? first : await ask(closer)
  const ranked = new Set(found.numbers.slice(0, most))
  // Rows that are not among these may be better.
  const isMore = found.changedAt === null && (found.numbers.length > most || !found.isExact)
  if (isMore) {
    for (const promising of promisingExpressions(engine, input, expression, statistics)) {
      const numbers = await matchingRows(reader, promising, MOST_PROMISING)
      for (const number of await passing(compared, found, numbers)) ranked.add(number)
    }
  }
  const titled = await titledSo(reader, project, new WrittenTitle(asked.written))
  if (isMore) {
    const older = await matchingTitled(reader, expression, titled.keys(), ranked)
    for (const number of await passing(compared, found, older)) ranked.add(number)
  }
  const scores = await scoreRows(reader, [...ranked], words, statistics)
  raise(scores, titled)
  return {
    numbers: await inOrder(reader, expression, { found, ranked, scores, wanted }),
    scores,
    total: compared === null ? found.total : new Set([...found.numbers, ...ranked]).size,
    isExact: found.isExact && isWhole && !begunWords(tree).some((word) => isApproximate(input, word)),
    statistics,
  }
}

interface FirstInput {
  /** Of words that very many begin with it asks for the words alone. */
  narrow: MatchInput
  statistics: WordStatistics
  /** False: parts of some notes that pass are not asked for. */
  isWhole: boolean
}

/** What the index is asked for at first, by what it knows of the words. */
async function firstInput(
  reader: Reader,
  project: Project,
  { tree, words }: AskedTree,
  prepared: PreparedFilters,
): Promise<FirstInput> {
  const { engine } = reader
  const isOnly = await isOnlyProject(reader)
  // A single word has nothing to be weighed against.
  const weighed = new Set(words).size > 1 || engine === 'postgres' ? words : []
  const statistics = await wordStatistics(reader, project, weighed, isOnly)
  // PostgreSQL collects beginnings by an index of its own, however many notes there are.
  const notes = engine === 'sqlite' ? await noteNumber(reader) : Number.POSITIVE_INFINITY
  const beginnings = await beginningsOf(reader, begunWords(tree), notes)
  const many =
    notes <= FEW_NOTES_IN_ALL
      ? []
      : begunWords(tree).filter((word) => isFoundOften(word, beginnings.get(word), statistics))
  const { scope, isWhole } = await passingScope(reader, project, prepared, isOnly)
  const common = await commonAsWritten(reader, project, [...new Set(many)], isOnly)
  return { narrow: { ...scope, tree, beginnings, common, notes }, statistics, isWhole }
}

/**
 * The same question with all that begins with its common words; null where there is none, or nothing else narrows it. Whoever asks for a
 * common word alone means the word, but beside one that few notes have, those of them count that have a longer one.
 */
function withBeginnings(input: MatchInput, statistics: WordStatistics): MatchInput | null {
  const { tree, common, notes } = input
  const kept = [...common].filter((word) => STOP_WORDS.has(word) || isSlowlyCollected(word, notes))
  if (kept.length === common.size || tree.kind !== 'and') return null
  return tree.parts.some((part) => isOfFew(part, statistics)) ? { ...input, common: new Set(kept) } : null
}

/** Whether few notes have it. */
function isOfFew(node: Node, { common, holding }: WordStatistics): boolean {
  const isRare = (word: string) => holding.has(word) && !common.has(word)
  return node.kind === 'word' ? isRare(node.word) : node.kind === 'phrase' && node.words.some(isRare)
}

/** Of rows that match those that pass the filters. */
async function passing(
  search: ComparedSearch | null,
  { numbers: known, comparedTo }: Candidates,
  numbers: readonly number[],
): Promise<readonly number[]> {
  if (search === null) return numbers
  const isPassing = new Set(known)
  const others = comparedTo === null ? [] : numbers.filter((number) => number < comparedTo)
  for (const number of (await passingRows(search, others)).keys()) isPassing.add(number)
  return numbers.filter((number) => isPassing.has(number))
}

/** What is called just so comes first, however often others say it, and what is spelled so before what only has the words. */
function raise(scores: Map<number, number>, titled: ReadonlyMap<number, TitleMatch>): void {
  for (const level of [TITLE_MATCH.sameWords, TITLE_MATCH.sameSpelling]) {
    const ids = [...titled].filter(([, match]) => match === level).map(([noteId]) => noteId)
    if (ids.length === 0) continue
    const most = scores.values().reduce((found, score) => Math.max(found, score), 0)
    for (const noteId of ids) {
      const number = rowNumber('note', noteId, 0)
      const score = scores.get(number)
      if (score !== undefined) scores.set(number, score + most)
    }
  }
}

/** Whether collecting everything that begins with the word could take long. */
function isFoundOften(word: string, beginning: Beginning | undefined, { common, holding }: WordStatistics): boolean {
  if (beginning === undefined) return (holding.get(word) ?? 0) >= MOST_COLLECTED
  return !beginning.isWhole && (common.has(word) || !holding.has(word))
}

/** Of what matches: notes that are called so, what has words that few have, and what has several that many have. */
function promisingExpressions(
  engine: Engine,
  input: MatchInput,
  expression: string,
  statistics: WordStatistics,
): string[] {
  const names = nameExpression(engine, input.projectId, input.tree, false)
  const rare = withoutCommon(input.tree, statistics)
  const several = severalCommon(input.tree, statistics)
  return [
    ...(names === null ? [] : [isImplied(input) ? names : all(engine, names, expression)]),
    ...[rare, several].flatMap((tree) => (tree === null ? [] : [matchExpression(engine, { ...input, tree })])),
  ]
}

/** Whether what is called so matches in any case: nothing but words is asked for. */
function isImplied(input: MatchInput): boolean {
  const isOfWords = (node: Node): boolean =>
    node.kind === 'word' ||
    (node.kind === 'phrase' && node.words.length === 1) ||
    ((node.kind === 'and' || node.kind === 'or') && node.parts.every(isOfWords))
  return isUnlimited(input) && isOfWords(input.tree)
}

interface Ranking {
  found: Candidates
  ranked: ReadonlySet<number>
  scores: ReadonlyMap<number, number>
  wanted: number
}

/** What was ranked, then the others, the newest first; by time where that was asked for. */
async function inOrder(reader: Reader, expression: string, ranking: Ranking): Promise<number[]> {
  const { found, ranked, scores, wanted } = ranking
  if (found.changedAt !== null) return bestFirst(found.numbers, scores, found.changedAt).slice(0, wanted)
  const first = bestFirst(ranked, scores, null)
  const last = Math.min(wanted, MOST_COUNTED)
  if (last <= first.length || (!found.isWhole && found.total <= first.length)) return first.slice(0, last)
  const newest = found.isWhole ? found.numbers : await matchingRows(reader, expression, last)
  return [...first, ...newest.filter((number) => !ranked.has(number))].slice(0, last)
}

/** The best first; of equals those of the newest note, in the order of the note. By time where that was asked for. */
export function bestFirst(
  numbers: Iterable<number>,
  scores: ReadonlyMap<number, number>,
  changedAt: ReadonlyMap<number, number> | null,
): number[] {
  // What they are compared by is looked up once for each, not at each comparison.
  const rows = Array.from(numbers, (number) => {
    const { noteId } = rowOf(number)
    return { number, noteId, score: scores.get(number) ?? 0, changedAt: changedAt?.get(number) ?? 0 }
  })
  rows.sort(
    (one, other) =>
      other.changedAt - one.changedAt ||
      other.score - one.score ||
      other.noteId - one.noteId ||
      one.number - other.number,
  )
  return rows.map(({ number }) => number)
}

/** The tree less the common words of which others would do; null where that makes no difference. */
function withoutCommon(node: Node, { common, holding }: WordStatistics): Node | null {
  if (node.kind !== 'or') return null
  const isCommon = (part: Node) => part.kind === 'word' && common.has(part.word)
  const parts = node.parts.filter((part) => !isCommon(part))
  const isUseful = parts.some((part) => part.kind !== 'word' || (holding.get(part.word) ?? 0) > 0)
  return isUseful && parts.length < node.parts.length ? { kind: 'or', parts } : null
}

/** Of the common words of which one would do the half that is less so, together; null where there is no such half. */
function severalCommon(node: Node, { common, holding }: WordStatistics): Node | null {
  if (node.kind !== 'or') return null
  const words = node.parts.filter((part) => part.kind === 'word').filter(({ word }) => common.has(word))
  if (words.length < 2) return null
  const byRarity = words.sort((one, other) => (holding.get(one.word) ?? 0) - (holding.get(other.word) ?? 0))
  return { kind: 'and', parts: byRarity.slice(0, Math.max(2, Math.ceil(words.length / 2))) }
}

/** Words of which longer ones are found that begin so. */
export function begunWords(node: Node): string[] {
  if (node.kind === 'not') return begunWords(node.part)
  if (node.kind === 'word') return [node.word]
  if (node.kind === 'phrase') return node.isBeginning ? node.words.slice(-1) : []
  return node.parts.flatMap(begunWords)
}
