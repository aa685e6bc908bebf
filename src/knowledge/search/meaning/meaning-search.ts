import type { Clock } from '../../../platform/clock/clock.ts'
import { isAppError } from '../../../platform/errors/app-error.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { Database, Reader } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import type { NearChunk } from '../../semantic/search/near-chunk.ts'
import type { Semantic } from '../../semantic/semantic.ts'
import { syncedSeq as lastSynced } from '../../semantic/sync/store-changed-since.ts'
import type { KnowledgeSettings } from '../../settings.ts'
import { observationTexts } from '../answer/store-search-hits.ts'
import type { SearchFilters } from '../filter/filters.ts'
import { categoryFilter } from '../filter/passing-notes.ts'
import { mayMorePass } from '../find/find-by-filters.ts'
import { type Found, type FoundRow, filterNotes, findRows, type Page } from '../find/find-rows.ts'
import { rowsHaving } from '../find/rows-having.ts'
import { type Hit, hitKey, type RatedHit } from '../hit.ts'
import type { SearchIndex } from '../index/search-index.ts'
import { anyWord } from '../question/any-word.ts'
import { excludedOf } from '../question/excluded.ts'
import type { Question } from '../question/question.ts'
import type { TokenMeaning } from '../rank/token-meaning.ts'
import { rankHits } from '../rank-hits.ts'
import { chunksNow } from './chunks-now.ts'
import { expandHits } from './expand-hits.ts'
import { fuseHits, joinHits } from './fuse-hits.ts'
import { type NearRow, nearRows } from './near-rows.ts'
import { type QuestionVector, QuestionVectors } from './question-vectors.ts'
import { rerankHits } from './rerank-hits.ts'
import { loadWordMeanings } from './word-meanings.ts'

export interface MeaningDeps {
  db: Database
  clock: Clock
  log: Logger
  settings: KnowledgeSettings
  searchIndex: SearchIndex
}

export interface MeaningRequest {
  question: Question
  text: string
  filters: SearchFilters
  minSimilarity: number | null
  isExpanded: boolean | null
}

export interface FoundByMeaning {
  /** All that were found, best first; more than a page. */
  hits: RatedHit[]
  /** Near, and yet no hits. */
  rejected: RejectedRow[]
  question: Question
  isRelaxed: boolean
  modelId: number
  minSimilarity: number
  /** Relations of the best hits were followed. */
  isExpanded: boolean
  /** They were found by words alone, or the index of words lacks the latest changes. */
  isDegraded: boolean
  /** How many chunks, and rows by words, were looked at. */
  depth: number
}

export interface RejectedRow extends Pick<Hit, 'noteId' | 'kind' | 'position'> {
  similarity: number
  reason: 'below_min_similarity' | 'filtered'
}

interface NearFound extends Pick<FoundByMeaning, 'modelId' | 'minSimilarity' | 'rejected'> {
  /** The change that vectors had followed before they were asked. */
  syncedSeq: number
  chunks: readonly NearChunk[]
  /** What is near enough and passes the filters. */
  rows: NearRow[]
  /** There may be more that is near enough. */
  isCut: boolean
  /** What is excluded was looked for in an index of words that lacks the latest changes. */
  isBehind: boolean
}

interface FurtherSearch {
  asked: QuestionVector
  page: Page
  /** Those that are looked at besides are added. */
  depths: number[]
  /** What the words found. */
  words: readonly FoundRow[]
}

interface Ordering {
  page: Page
  /** By what the words of the question say; null for the order of the fusion. */
  ranking: {
    meaning: TokenMeaning | null
    statistics: Found['statistics']
    synced: { modelId: number; seq: number }
  } | null
  isExpanded: boolean
}

const CHUNKS_PER_RESULT = 10
/** For so many results the same is looked at, whichever page of them is asked for. */
const FIRST_RESULTS = 50
/** Nobody pages so far through what is similar; and who does finds an end. */
const MOST_CHUNKS = 10_000

/** Finds by meaning, alone or together with words. */
export class MeaningSearch {
  readonly #deps: MeaningDeps
  readonly #semantic: Semantic
  readonly #vectors: QuestionVectors

  constructor(deps: MeaningDeps, semantic: Semantic) {
    this.#deps = deps
    this.#semantic = semantic
    this.#vectors = new QuestionVectors({ ...deps, semantic })
  }

  /** Null when meaning cannot be used right now. */
  async find(
    project: Project,
    request: MeaningRequest,
    page: Page,
    mode: 'vector' | 'hybrid',
  ): Promise<FoundByMeaning | null> {
    const depths = this.#depths(page)
    const asked = await this.#vectors.vectorOf(project.id, withoutSigns(request))
    if (asked === null) return null
    const isMute = saysNothing(asked)
    if (isMute && mode === 'vector') return null
    // The thread that compares vectors has its question before the words are looked for, which nothing else gets in between.
    const [first, found, meaning] = await Promise.all([
      this.#near(project, request, asked, lastOf(depths)),
      mode === 'hybrid' ? this.#words(project, request, lastOf(depths)) : null,
      mode === 'hybrid' ? this.#wordMeanings() : null,
    ])
    if (first === null) return null
    const near = await this.#further(project, request, first, { asked, page, depths, words: found?.rows ?? [] })
    const { chunks, rows, modelId, minSimilarity, syncedSeq, rejected } = near
    const { settings } = this.#deps
    const nearKeys = new Set(rows.map(hitKey))
    const fusion = found === null ? 'weighted' : settings.hybrid_fusion
    const words = found?.rows ?? []
    const wordKeys = found === null ? new Set<number>() : await this.#asWords(project, request, rows, found)
    const [best = [], ...others] = fuseHits({ chunks, nearKeys, words, wordKeys }, depths, fusion)
    const isExpanded = request.isExpanded ?? settings.graph_expansion
    const synced = { modelId, seq: syncedSeq }
    const ranking = found !== null && fusion === 'weighted' ? { meaning, statistics: found.statistics, synced } : null
    const hits = joinHits([await this.#inOrder(project, request, best, { page, ranking, isExpanded }), ...others])
    const { question = request.question, isRelaxed = false, isBehind = false } = found ?? {}
    const isDegraded = isMute || isBehind || near.isBehind
    const shown = { modelId, minSimilarity, rejected, question, isRelaxed, isExpanded, isDegraded }
    return { ...shown, depth: lastOf(depths), hits }
  }

  async #inOrder(
    project: Project,
    request: MeaningRequest,
    best: readonly RatedHit[],
    { page, ranking, isExpanded }: Ordering,
  ): Promise<RatedHit[]> {
    const { db } = this.#deps
    const text = withoutSigns(request)
    const ordered = await db.read(async (snapshot) => {
      const ranked = ranking === null ? best : await rankHits(snapshot, project, best, { question: text, ...ranking })
      const inOrder = asWritten(request.question, ranked)
      if (!isExpanded) return inOrder
      const expanded = await expandHits(snapshot, project, inOrder, request.filters)
      return asWritten(request.question, await withoutExcluded(snapshot, project, request.question, expanded))
    })
    // Which ones are sorted again is the same for every page; those behind them stay where they are.
    const { reranker } = this.#semantic
    const isReranked = reranker !== null && page.offset < reranker.candidates
    if (!isReranked) return ordered
    return asWritten(request.question, await rerankHits({ db, reranker }, project, ordered, text))
  }

  /** How many chunks, and rows by words, are looked at for the first results, for more of them, and so on up to the page. */
  #depths({ limit, offset }: Page): number[] {
    const wanted = Math.min(MOST_CHUNKS, CHUNKS_PER_RESULT * (offset + limit))
    const depths = [Math.min(MOST_CHUNKS, Math.max(this.#deps.settings.vector_k, CHUNKS_PER_RESULT * FIRST_RESULTS))]
    while (lastOf(depths) < wanted) depths.push(deeper(lastOf(depths)))
    return depths
  }

  /** Filters leave little of what is nearest, and one long note may be all of it: what comes behind is looked at, too. */
  async #further(
    project: Project,
    request: MeaningRequest,
    first: NearFound,
    search: FurtherSearch,
  ): Promise<NearFound> {
    const { asked, page, depths, words } = search
    let near = first
    while (near.isCut && lastOf(depths) < MOST_CHUNKS) {
      const found = new Set([...near.rows, ...words].map(hitKey)).size
      if (found > page.offset + page.limit) break
      if (!(await this.#mayMorePass(project, request.filters, found))) break
      const next = nextDepths(lastOf(depths))
      const further = await this.#near(project, request, asked, lastOf(next))
      if (further === null) break
      depths.push(...next)
      near = further
    }
    return near
  }

  /** What the index of words lacks, or cannot be read in it right now, may pass: more may be looked at in vain then. */
  async #mayMorePass(project: Project, filters: SearchFilters, count: number): Promise<boolean> {
    const { db, searchIndex } = this.#deps
    if (!(await searchIndex.isCurrent(project))) return true
    return mayMorePass(db, project, filters, count).catch(() => true)
  }

  async #near(
    project: Project,
    request: MeaningRequest,
    asked: QuestionVector,
    depth: number,
  ): Promise<NearFound | null> {
    const { modelId, provider, vector } = asked
    const { db, settings, searchIndex } = this.#deps
    const syncedSeq = await lastSynced(db, { projectId: project.id, modelId })
    const nearest = saysNothing(asked) ? [] : await this.#nearest(project, modelId, vector, depth)
    if (nearest === null) return null
    const isExcluding = excludedOf(request.question.tree) !== null
    const isBehind = isExcluding && (await searchIndex.catchUp(project)) === 'behind'
    const minSimilarity = request.minSimilarity ?? settings.min_similarity ?? provider.model.minSimilarity
    return db.read(async (snapshot) => {
      const chunks = await chunksNow(snapshot, project.id, syncedSeq, nearest)
      const all = nearRows(chunks)
      const near = all.filter(({ similarity }) => similarity >= minSimilarity)
      const passed = await passing(snapshot, project, near, request.filters)
      const rows = await withoutExcluded(snapshot, project, request.question, passed)
      const isCut = nearest.length >= depth && (nearest.at(-1)?.similarity ?? 0) >= minSimilarity
      return { modelId, minSimilarity, syncedSeq, chunks, rows, isCut, isBehind, rejected: rejected(all, near, rows) }
    })
  }

  /** Null when they cannot be had: words are compared by their letters then. */
  async #wordMeanings(): Promise<TokenMeaning | null> {
    try {
      return await loadWordMeanings()
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the meanings of words cannot be loaded: ranking without them')
      return null
    }
  }

  async #nearest(project: Project, modelId: number, vector: Float32Array, depth: number): Promise<NearChunk[] | null> {
    try {
      return await this.#semantic.vectors.nearest({ projectId: project.id, modelId, vector, k: depth })
    } catch (error) {
      if (!isAppError(error, 'unavailable')) throw error
      this.#deps.log.warn({ err: error }, 'the vectors cannot be searched: searching by words only')
      return null
    }
  }

  /** Rows that have some of the words of a plain question: the order, not the operator, brings those with all of them to the top. */
  async #words(project: Project, { question, filters }: MeaningRequest, limit: number) {
    const isBehind = (await this.#deps.searchIndex.catchUp(project)) === 'behind'
    const some = anyWord(question)
    const main = { mode: 'text', question: some ?? question } as const
    const page = { limit, offset: 0 }
    // Nobody is told how many there are.
    const { rows, statistics } = await this.#deps.db.read((snapshot) =>
      findRows(snapshot, project, { main, filters, page, isCounted: false }),
    )
    const isCut = rows.length === limit
    return { question: main.question, isRelaxed: some !== null, isBehind, rows, isCut, statistics }
  }

  /**
   * What quotes and operators find, also of what is near, where so many others have the words that it was not reached. Of a plain
   * question the words bring nothing but the rows that were reached: those of another page would change the order of this one.
   */
  async #asWords(
    project: Project,
    { question: { isPlain, tree } }: MeaningRequest,
    near: readonly NearRow[],
    { rows, isCut }: { rows: readonly FoundRow[]; isCut: boolean },
  ): Promise<Set<number>> {
    if (isPlain || tree === null) return new Set()
    const known = new Set(rows.map(hitKey))
    if (!isCut) return known
    const noteIds = new Set(near.filter((row) => !known.has(hitKey(row))).map(({ noteId }) => noteId))
    const having = await this.#deps.db.read((snapshot) => rowsHaving(snapshot, project, tree, [...noteIds]))
    return new Set([...known, ...having])
  }
}

/** The next depth is always the same, so that a page for which more is looked at changes nothing before it. */
function deeper(depth: number): number {
  return Math.min(MOST_CHUNKS, 2 * depth)
}

/** Looking again costs more than looking further. */
function nextDepths(depth: number): number[] {
  return [...new Set([deeper(depth), deeper(deeper(depth))])]
}

function lastOf(depths: readonly number[]): number {
  return depths.at(-1) as number
}

/** What is embedded: the question without its signs, where it has any. */
function withoutSigns({ question, text }: MeaningRequest): string {
  return question.isPlain && question.tags.length === 0 ? text : question.spoken
}

function rejected(all: readonly NearRow[], near: readonly NearRow[], passed: readonly NearRow[]): RejectedRow[] {
  const [isNear, isPassed] = [new Set(near), new Set(passed)]
  return all
    .filter((row) => !isPassed.has(row))
    .map((row) => {
      const { noteId, kind, position, similarity } = row
      return { noteId, kind, position, similarity, reason: isNear.has(row) ? 'filtered' : 'below_min_similarity' }
    })
}

async function passing(
  reader: Reader,
  project: Project,
  rows: readonly NearRow[],
  filters: SearchFilters,
): Promise<NearRow[]> {
  const { kinds, categories } = filters
  const ofKind = kinds?.length ? rows.filter(({ kind }) => kinds.includes(kind)) : rows
  const ofCategory = categories?.length ? await inCategories(reader, ofKind, categories) : ofKind
  const notes = await filterNotes(reader, project, [...new Set(ofCategory.map(({ noteId }) => noteId))], filters)
  return ofCategory.filter(({ noteId }) => notes.has(noteId))
}

/** Words behind NOT exclude what has them, however near it is in meaning. */
async function withoutExcluded<Row extends Pick<Hit, 'noteId' | 'kind' | 'position'>>(
  reader: Reader,
  project: Project,
  { tree }: Question,
  rows: readonly Row[],
): Promise<Row[]> {
  const excluded = excludedOf(tree)
  if (excluded === null) return [...rows]
  const having = await rowsHaving(reader, project, excluded, [...new Set(rows.map(({ noteId }) => noteId))])
  return rows.filter((row) => !having.has(hitKey(row)))
}

/** Whoever writes quotes or operators means them: what is as they say comes before what is only near in meaning. */
function asWritten({ isPlain }: Question, hits: readonly RatedHit[]): RatedHit[] {
  if (isPlain) return [...hits]
  return joinHits([hits.filter(({ words }) => words !== null), hits.filter(({ words }) => words === null)])
}

async function inCategories(
  reader: Reader,
  rows: readonly NearRow[],
  categories: readonly string[],
): Promise<NearRow[]> {
  const observations = rows.filter(({ kind }) => kind === 'observation')
  const found = await observationTexts(reader, observations, 0)
  const isOfCategory = categoryFilter(categories)
  const keys = new Set(
    found
      .filter(({ category }) => isOfCategory(category))
      .map(({ note_id: noteId, position }) => hitKey({ kind: 'observation', noteId, position })),
  )
  return observations.filter((row) => keys.has(hitKey(row)))
}

/** The model does not know a single word of the question. */
function saysNothing({ vector }: QuestionVector): boolean {
  return vector.every((value) => value === 0)
}
