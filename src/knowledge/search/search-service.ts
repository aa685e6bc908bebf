import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import { lastChange } from '../history/store-changes.ts'
import type { Project } from '../note/note.ts'
import type { Semantic } from '../semantic/semantic.ts'
import type { KnowledgeSettings } from '../settings.ts'
import { chunkPlaces } from './answer/chunk-places.ts'
import { searchResults } from './answer/search-results.ts'
import { areUnchanged } from './answer/store-unchanged.ts'
import type { Main } from './filter/filters.ts'
import type { Page } from './find/find-rows.ts'
import { findByWords } from './find-by-words.ts'
import type { RatedHit } from './hit.ts'
import type { SearchIndex } from './index/search-index.ts'
import { MeaningSearch, type RejectedRow } from './meaning/meaning-search.ts'
import type { Question } from './question/question.ts'
import type { RetrievalMode, SearchResult } from './schema-search.ts'
import type { SearchRequest } from './search-request.ts'

const MOST_ATTEMPTS = 5
const FEW_ATTEMPTS = 2
/** After that nothing is looked for again. */
const PATIENCE_MS = 1_000

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
  /** Meaning was asked for and could not be used, or the index of words lacks the latest changes. */
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

/** Makes something of what was found. By words, the snapshot is the one that it was found in. */
export type Show<T> = (snapshot: Reader, found: SearchFound) => Promise<T>

/** Finds notes, observations and relations of a project: by words, by meaning, or by both. */
export class SearchService {
  readonly #deps: SearchDeps
  readonly #meaning: MeaningSearch | null

  constructor(deps: SearchDeps) {
    this.#deps = deps
    this.#meaning = deps.semantic === null ? null : new MeaningSearch(deps, deps.semantic)
  }

  search(project: Project, request: SearchRequest, page: Page): Promise<SearchAnswer> {
    return this.show(project, request, page, (snapshot, found) => answerOf(snapshot, project, found, page))
  }

  /**
   * What is found and shown in one state of the database is as it was asked for. Where it is not, which is by meaning, and on SQLite,
   * whose index is a file of its own, a note may change in between: it may have what must not be there by then, or another part of it
   * may stand where the one that was found stood. All is looked for again then; where that goes on and on, it is shown as it is.
   */
  async show<T>(project: Project, request: SearchRequest, page: Page, show: Show<T>): Promise<T> {
    const { db, clock, semantic } = this.#deps
    const begun = clock.elapsedMs()
    // A service that sorts the hits is somebody's money.
    const most = semantic?.reranker ? FEW_ATTEMPTS : MOST_ATTEMPTS
    const isOneState = db.engine === 'postgres' && this.#modeOf(request) === 'fts'
    for (let attempt = 1; ; attempt++) {
      const since = isOneState ? 0 : await lastChange(db, project.id)
      const shown = await this.#find(project, request, page, async (snapshot, found) => {
        const isLast = isOneState || attempt === most || clock.elapsedMs() - begun > PATIENCE_MS
        const noteIds = new Set(shownOf(found, page).map(({ noteId }) => noteId))
        if (!isLast && !(await areUnchanged(snapshot, project.id, since, noteIds))) return null
        return { answer: await show(snapshot, found) }
      })
      if (shown !== null) return shown.answer
    }
  }

  /** What was found, without a look at what became of it since. */
  find(project: Project, request: SearchRequest, page: Page): Promise<SearchFound> {
    return this.#find(project, request, page, async (_snapshot, found) => found)
  }

  async #find<T>(project: Project, request: SearchRequest, page: Page, show: Show<T>): Promise<T> {
    const { db } = this.#deps
    const mode = this.#modeOf(request)
    const { main } = request
    if (request.isEmpty) return show(db, nothing(mode))
    if (mode === 'fts' || main.mode !== 'text' || this.#meaning === null) {
      return this.#byWords(project, request, page, show)
    }
    const found = await this.#meaning.find(project, { ...request, question: main.question }, page, mode)
    if (found === null) {
      return this.#byWords(project, request, page, (snapshot, words) => show(snapshot, { ...words, isDegraded: true }))
    }
    const hasMore = found.hits.length > page.offset + page.limit
    return db.read((snapshot) => show(snapshot, { ...nothing(mode), ...found, hasMore }))
  }

  /** What the caller asks for; else what the operator set, where that can be done; else words. */
  #modeOf({ retrieval, main, isEmpty, isWordless }: SearchRequest): RetrievalMode {
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
    if (isWordless || (!isEmpty && isOnlyExcluding(main))) return 'fts'
    if (!isEmpty && main.mode !== 'text') {
      throw new AppError('invalid_argument', `A search by meaning needs text: with "${retrieval}" there must be some`)
    }
    return retrieval
  }

  async #byWords<T>(project: Project, { main, filters }: SearchRequest, page: Page, show: Show<T>): Promise<T> {
    const { db, searchIndex } = this.#deps
    const isDegraded = (await searchIndex.catchUp(project)) === 'behind'
    const wider = { ...page, limit: page.limit + 1 }
    return db.read(async (snapshot) => {
      const found = await findByWords(snapshot, project, { main, filters, page: wider })
      const words: SearchFound = {
        ...nothing('fts'),
        ...found,
        hits: found.hits.slice(0, page.limit),
        offset: page.offset,
        depth: wider.limit,
        isExact: found.isExact && !isDegraded,
        hasMore: found.hits.length > page.limit,
        isDegraded,
      }
      return show(snapshot, words)
    })
  }
}

function shownOf({ hits, offset }: SearchFound, page: Page): RatedHit[] {
  return hits.slice(page.offset - offset, page.offset - offset + page.limit)
}

async function answerOf(snapshot: Reader, project: Project, found: SearchFound, page: Page): Promise<SearchAnswer> {
  const { question, modelId, total, isExact, hasMore, isDegraded } = found
  const results = await searchResults(snapshot, project, shownOf(found, page), {
    question,
    isByMeaning: modelId !== null,
    chunkPlaces: async (noteIds) =>
      modelId === null ? new Map() : chunkPlaces(snapshot, project.id, modelId, noteIds),
  })
  return { results, total, isExact, hasMore, isDegraded }
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
