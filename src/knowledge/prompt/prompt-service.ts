import type { Micros } from '../../platform/clock/clock.ts'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { buildContext, type ContextQuery, type ContextResult, contextOfNotes } from '../context/build-context.ts'
import { contextQueryOf } from '../context/context-document.ts'
import type { KnowledgeDeps } from '../deps.ts'
import type { Project } from '../note/note.ts'
import { requireProject } from '../project/look-up.ts'
import { chunkPlaces } from '../search/answer/chunk-places.ts'
import { readSearch } from '../search/search-request.ts'
import type { SearchService } from '../search/search-service.ts'
import { WantedWords } from '../search/words/wanted-words.ts'
import { dropUnstorable } from '../text/clean-text.ts'
import { type PromptMaterial, writePrompt } from './write-prompt.ts'

export interface PromptQuestion {
  projectId: string
  purpose: PromptMaterial['purpose']
  /** Blank: whatever changed lately. */
  topic: string
  timeframe: string | null
  /** Notes at most. */
  limit: number
  depth: number
  /** Of each note. */
  maxRelated: number
}

export interface Prompt {
  text: string
  topic: string | null
  timeframe: string | null
  /** How many notes the search found; 0 where there was none. */
  searchCount: number
  results: ContextResult[]
  generatedAt: Micros
}

/** What a prompt tells, and why. */
interface Found {
  /** How many notes the search found; 0 where there was none. */
  count: number
  results: ContextResult[]
  sought: PromptMaterial['sought']
}

type PromptDeps = Pick<KnowledgeDeps, 'db' | 'clock' | 'settings' | 'searchIndex' | 'semantic' | 'baseUrl'>

const RECENTLY = '7d'

/** Puts together what an agent should know before it goes on. */
export class PromptService {
  readonly #deps: PromptDeps
  readonly #search: SearchService

  constructor(deps: PromptDeps, search: SearchService) {
    this.#deps = deps
    this.#search = search
  }

  async write(asked: PromptQuestion): Promise<Prompt> {
    const { db, clock, baseUrl } = this.#deps
    const generatedAt = clock.now()
    const topic = dropUnstorable(asked.topic).trim() || null
    const timeframe = asked.timeframe ?? (topic === null ? RECENTLY : null)
    const filters = {
      depth: asked.depth,
      max_related: asked.maxRelated,
      page_size: asked.limit,
      ...(timeframe !== null && { timeframe }),
    }
    // What is wrong with the timeframe is told before anything is looked for.
    const recent = contextQueryOf(null, filters, generatedAt, 'body')
    const project = await requireProject(db, asked.projectId)
    const found =
      topic === null ? await this.#lately(project, recent) : await this.#about(project, topic, recent, generatedAt)
    const text = writePrompt({
      purpose: asked.purpose,
      topic,
      timeframe,
      projectName: project.name,
      projectUrl: `${baseUrl()}/v2/${project.externalId}`,
      results: found.results,
      sought: found.sought,
    })
    return { text, topic, timeframe, searchCount: found.count, results: found.results, generatedAt }
  }

  async #lately(project: Project, query: ContextQuery): Promise<Found> {
    const { db, searchIndex } = this.#deps
    const { results } = await buildContext(db, searchIndex, project, query)
    return { count: 0, results, sought: { wanted: null, near: new Map() } }
  }

  /** Notes only: their texts have everything that their parts say. They are read in the state that they were found in. */
  #about(project: Project, topic: string, query: ContextQuery, now: Micros): Promise<Found> {
    const { since, pageSize: limit } = query
    const after = since === null ? {} : { after_date: toRfc3339(since) }
    const request = readSearch({ text: topic, entity_types: ['entity'], retrieval_mode: this.#mode(), ...after }, now)
    return this.#search.show(project, request, { limit, offset: 0 }, async (snapshot, { hits, question, modelId }) => {
      const shown = hits.slice(0, limit)
      const noteIds = shown.map(({ noteId }) => noteId)
      const places = modelId === null ? new Map() : await chunkPlaces(snapshot, project.id, modelId, noteIds)
      const { results } = await contextOfNotes(snapshot, project, noteIds, query)
      const near = new Map(
        shown.map(({ noteId, chunks }) => [noteId, { chunks, places: places.get(noteId) ?? new Map() }]),
      )
      const wanted = question === null ? null : new WantedWords(question)
      return { count: noteIds.length, results, sought: { wanted, near } }
    })
  }

  /** Agents seldom use the words of a note: where nobody decided it, meaning counts as well. Null: what the operator set. */
  #mode(): 'hybrid' | null {
    const { settings, semantic } = this.#deps
    return settings.default_search_type === 'auto' && semantic !== null ? 'hybrid' : null
  }
}
