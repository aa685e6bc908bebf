import type { Clock } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Outbound } from '../../platform/outbound/outbound-request.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { KnowledgeSettings } from '../deps.ts'
import { Embeddings, type Serving } from './embeddings.ts'
import { isSemantic } from './open-provider.ts'
import { openVectorSearch, type VectorSearch } from './search/vector-search.ts'
import { NoteVectorSync, type VectorSync } from './sync/vector-sync.ts'
import { EmbedThread } from './thread/embed-thread.ts'

export type { Serving } from './embeddings.ts'

/** Search by meaning, where it is switched on. */
export interface Semantic extends AsyncDisposable {
  readonly vectors: VectorSearch
  readonly sync: VectorSync
  /** Whose vectors answer questions about a project right now, and who embeds the question. `unavailable` when nobody can. */
  serving(projectId: number): Promise<Serving>
}

export interface SemanticDeps {
  db: Database
  clock: Clock
  log: Logger
  settings: KnowledgeSettings
  outbound: Outbound
}

/** Null: it is switched off, and nothing is made or kept for it. */
export function openSemantic(deps: SemanticDeps): Semantic | null {
  const { settings } = deps
  if (!isSemantic(settings)) return null
  const thread = new EmbedThread(deps)
  const embeddings = new Embeddings({ ...deps, thread })
  const vectors = openVectorSearch(deps)
  const sync = new NoteVectorSync({ ...deps, embeddings, thread })
  return {
    vectors,
    sync,
    serving: (projectId) => embeddings.serving(projectId),
    async [Symbol.asyncDispose]() {
      await Promise.all([vectors[Symbol.asyncDispose](), embeddings[Symbol.asyncDispose]()])
    },
  }
}
