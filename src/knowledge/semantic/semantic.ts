import type { Clock } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Outbound } from '../../platform/outbound/outbound-request.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { KnowledgeSettings } from '../settings.ts'
import { Embeddings, type KnownModel, type Serving } from './embeddings.ts'
import { isSemantic } from './open-provider.ts'
import { Reranker } from './rerank/reranker.ts'
import { openVectorSearch } from './search/open-vector-search.ts'
import type { VectorSearch } from './search/vector-search.ts'
import { NoteVectorSync, type VectorSync } from './sync/vector-sync.ts'
import { EmbedThread } from './thread/embed-thread.ts'

export type { Serving } from './embeddings.ts'

/** Search by meaning, where it is switched on. */
export interface Semantic extends AsyncDisposable {
  readonly vectors: VectorSearch
  readonly sync: VectorSync
  /** Null: the best hits are not sorted again. */
  readonly reranker: Reranker | null
  /** Whose vectors answer questions about a project right now, and who embeds the question. `unavailable` when nobody can. */
  serving(projectId: number): Promise<Serving>
  /** The model of the settings in a project; also while nobody can be asked. */
  known(projectId: number): Promise<KnownModel>
}

export interface SemanticDeps {
  db: Database
  clock: Clock
  log: Logger
  settings: KnowledgeSettings
  outbound: Outbound
  /** False: a command, which may run beside a server. */
  isServer: boolean
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
    reranker: openReranker(deps),
    serving: (projectId) => embeddings.serving(projectId),
    known: (projectId) => embeddings.known(projectId),
    async [Symbol.asyncDispose]() {
      await Promise.all([vectors[Symbol.asyncDispose](), embeddings[Symbol.asyncDispose]()])
    },
  }
}

function openReranker({ settings, outbound }: SemanticDeps): Reranker | null {
  if (!settings.reranker_enabled || settings.reranker_url === null) return null
  return new Reranker({
    outbound,
    url: settings.reranker_url,
    apiKey: settings.reranker_api_key,
    model: settings.reranker_model,
    timeoutMs: settings.reranker_timeout,
    candidates: settings.reranker_candidates,
  })
}
