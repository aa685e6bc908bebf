import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { KnowledgeSettings } from '../deps.ts'
import type { Project } from '../note/note.ts'
import type { Semantic } from '../semantic/semantic.ts'
import { chunkPlaces } from './answer/chunk-places.ts'
import { searchResults } from './answer/search-results.ts'
import type { Main } from './filter/filters.ts'
import type { Page } from './find/store-search.ts'
import { findByWords } from './find-by-words.ts'
import type { RatedHit } from './hit.ts'
import type { SearchIndex } from './index/search-index.ts'
import { MeaningSearch, type RejectedRow } from './meaning/meaning-search.ts'
import type { Question } from './question/question.ts'
import type { RetrievalMode, SearchResult } from './schema-search.ts'
import type { SearchRequest } from './search-request.ts'

export interface SearchDeps {
  db: Database
  clock: Clock
  log: Logger
  settings: KnowledgeSettings
  searchIndex: SearchIndex
  semantic: Semantic | null
}

export interface SearchAnswer {
  results: SearchResult[]
  total: number
  isExact: boolean
  hasMore: boolean
  /** Meaning was asked for and could not be used. */
  isDegraded: boolean
}

/** What was found before anything of it is read, and how. */
export interface SearchFound extends Omit<SearchAnswer, 'results'> {
  mode: RetrievalMode
  /** Best first, from this place in the whole list on. */
  hits: RatedHit[]
  offset: number
  /** What was really asked. */
  question: Question | null
  isRelaxed: boolean
  rejected: RejectedRow[]
  minSimilarity: number | null
  isExpanded: boolean
  depth: number
  /** Null when only words were looked for. */
  modelId: number | null
}

/** Finds notes, observations and relations of a project: by words, by meaning, or by both. */
export class SearchService {
  readonly #deps: SearchDeps
  readonly #meaning: MeaningSearch | null

  constructor(deps: SearchDeps) {
    this.#deps = deps
    this.#meaning = deps.semantic === null ? null : new MeaningSearch(deps, deps.semantic)
  }

  async search(project: Project, request: SearchRequest, page: Page): Promise<SearchAnswer> {
    const { hits, offset, question, modelId, total, isExact, hasMore, isDegraded } = await this.find(
      project,
      request,
      page,
    )
    const shown = hits.slice(page.offset - offset, page.offset - offset + page.limit)
    const results = await this.#deps.db.read((snapshot) =>
      searchResults(snapshot, project, shown, {
        question,
        isByMeaning: modelId !== null,
        chunkPlaces: async (noteIds) =>
          modelId === null ? new Map() : chunkPlaces(snapshot, project.id, modelId, noteIds),
      }),
    )
    return { results, total, isExact, hasMore, isDegraded }
  }

  async find(project: Project, request: SearchRequest, page: Page): Promise<SearchFound> {
    const mode = this.#modeOf(request)
    if (request.isEmpty) return nothing(mode)
    const { main } = request
    if (mode === 'fts' || main.mode !== 'text' || this.#meaning === null) return this.#byWords(project, request, page)
    const found = await this.#meaning.find(project, { ...request, question: main.question }, page, mode)
    if (found === null) return { ...(await this.#byWords(project, request, page)), isDegraded: true }
    const hasMore = found.hits.length > page.offset + page.limit
    return { ...nothing(mode), ...found, hasMore }
  }

  /** What the caller asks for; else what the operator set, where that can be done; else words. */
  #modeOf({ retrieval, main, isEmpty, isOnlyTags }: SearchRequest): RetrievalMode {
    if (retrieval === 'fts') return 'fts'
    if (retrieval === null) {
      const { default_search_type: set } = this.#deps.settings
      const isPossible = this.#meaning !== null && main.mode === 'text' && !isOnlyExcluding(main)
      return isPossible && (set === 'vector' || set === 'hybrid') ? set : 'fts'
    }
    if (this.#meaning === null) {
      throw new AppError('failed_precondition', 'Semantic search is disabled: ask with retrieval_mode "fts"')
    }
    // Tags have no meaning to compare, nor has what is excluded: what has or has not got them is the answer in every mode.
    if (isOnlyTags || (!isEmpty && isOnlyExcluding(main))) return 'fts'
    if (!isEmpty && main.mode !== 'text') {
      throw new AppError('invalid_argument', `A search by meaning needs text: with "${retrieval}" there must be some`)
    }
    return retrieval
  }

  async #byWords(project: Project, { main, filters }: SearchRequest, page: Page): Promise<SearchFound> {
    const { db, searchIndex } = this.#deps
    await searchIndex.caughtUp(project)
    const wider = { ...page, limit: page.limit + 1 }
    const found = await db.read((snapshot) => findByWords(snapshot, project, main, filters, wider))
    return {
      ...nothing('fts'),
      ...found,
      hits: found.hits.slice(0, page.limit),
      offset: page.offset,
      depth: wider.limit,
      hasMore: found.hits.length > page.limit,
    }
  }
}

/** All words of the question are behind NOT. */
function isOnlyExcluding(main: Main): boolean {
  return main.mode === 'text' && main.question.words.length === 0
}

function nothing(mode: RetrievalMode): SearchFound {
  return {
    mode,
    hits: [],
    offset: 0,
    question: null,
    isRelaxed: false,
    rejected: [],
    minSimilarity: null,
    isExpanded: false,
    depth: 0,
    modelId: null,
    total: 0,
    isExact: mode === 'fts',
    hasMore: false,
    isDegraded: false,
  }
}
