/// <reference lib="esnext.float16" />

import { Embeddings } from '../../src/knowledge/semantic/embeddings.ts'
import type { ThreadVectorSearch } from '../../src/knowledge/semantic/search/thread-vector-search.ts'
import type { Semantic } from '../../src/knowledge/semantic/semantic.ts'
import type { NotePlan, NoteWork } from '../../src/knowledge/semantic/sync/plan-note.ts'
import { NoteVectorSync } from '../../src/knowledge/semantic/sync/vector-sync.ts'
import { EmbedThread } from '../../src/knowledge/semantic/thread/embed-thread.ts'
import type { KnowledgeSettings } from '../../src/knowledge/settings.ts'
import { type Clock, SystemClock } from '../../src/platform/clock/clock.ts'
import { OutboundClient } from '../../src/platform/outbound/outbound-client.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { installed } from '../support/identity.ts'
import { silentLogger } from '../support/silent-logger.ts'
import type { NotesWorld } from './notes-world.ts'
import { openWorld } from './notes-world.ts'

export const BUILTIN = {
  semantic_search_enabled: true,
  embedding_provider: 'builtin',
  embedding_model: null,
  embedding_dimensions: null,
  embedding_batch_size: 8,
  embedding_url: null,
  embedding_api_key: null,
  embedding_timeout: 10_000,
  embedding_folder: null,
  embedding_query_prefix: '',
  embedding_document_prefix: '',
  embedding_query_input_type: null,
  embedding_document_input_type: null,
  index_delay_ms: 0,
} as const

export type SemanticSettings = Partial<KnowledgeSettings>

export interface RunningSyncOptions {
  sync?: Clock
  provider?: Clock
  isServer?: boolean
  restMs?: () => number
}

class WatchedThread extends EmbedThread {
  readonly #planned: number[]

  constructor(clock: Clock, planned: number[]) {
    super({ clock })
    this.#planned = planned
  }

  override plan(
    notes: readonly NoteWork[],
    hasVectors: boolean,
  ): Promise<{ plans: NotePlan[]; vectors: Uint8Array | null }> {
    this.#planned.push(...notes.map(({ noteId }) => noteId))
    return super.plan(notes, hasVectors)
  }
}

/** A running sync and all that it needs; ends with its disposal. */
export class RunningSync implements AsyncDisposable {
  readonly embeddings: Embeddings
  readonly sync: NoteVectorSync
  /** Notes that were embedded, as often as they were. */
  readonly planned: number[] = []
  readonly #outbound: OutboundClient
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>

  constructor(db: Database, settings: SemanticSettings = {}, options: RunningSyncOptions = {}) {
    const {
      sync: clock = new SystemClock(),
      provider: providerClock = new SystemClock(),
      isServer = true,
      restMs = () => 0,
    } = options
    const all = { ...BUILTIN, ...settings } as KnowledgeSettings
    const thread = new WatchedThread(clock, this.planned)
    this.#outbound = new OutboundClient({ clock: new SystemClock() })
    const log = silentLogger()
    this.embeddings = new Embeddings({ db, clock: providerClock, log, settings: all, thread, outbound: this.#outbound })
    this.sync = new NoteVectorSync({
      db,
      clock,
      log,
      settings: all,
      thread,
      embeddings: this.embeddings,
      isServer,
      restMs,
    })
    this.#ended = this.sync.run(this.#stopping.signal)
  }

  /** Ends when what was underway is written, or given up. */
  async stop(reason?: Error): Promise<void> {
    this.#stopping.abort(reason)
    await this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.#outbound.close()
    await this.embeddings[Symbol.asyncDispose]()
  }
}

export async function openNotes(db: Database, name = 'semantic'): Promise<NotesWorld> {
  const { operator } = await installed(db)
  return openWorld(db, operator, name)
}

export function createNote({ notes, writer, projectId }: NotesWorld, title: string, content: string, metadata = {}) {
  return notes.create(writer, projectId, { title, directory: '', content, noteType: null, metadata })
}

/** What searches with these vectors, as they are made by the sync. */
export function semanticOf({ embeddings, sync }: RunningSync, vectors: ThreadVectorSearch): Semantic {
  return {
    vectors,
    sync,
    reranker: null,
    serving: (projectId) => embeddings.serving(projectId),
    known: (projectId) => embeddings.known(projectId),
    [Symbol.asyncDispose]: async () => {},
  }
}

/** What the work asks at once is answered when storage is ready again. */
export function slowly<T>(db: Database, isReady: Promise<void>, work: () => T): T {
  const run = db.run
  db.run = async (...parameters) => {
    await isReady
    return run.apply(db, parameters as never) as never
  }
  const result = work()
  db.run = run
  return result
}

export interface StoredVector {
  note: string | null
  modelId: number
  key: string
  start: number
  end: number
  vector: Float32Array
}

/** All that is stored, by note and place. */
export async function storedVectors({ deps: { db }, project }: NotesWorld): Promise<StoredVector[]> {
  const rows = await db.query
    .selectFrom('note_vectors as v')
    .leftJoin('notes as n', 'n.id', 'v.note_id')
    .select(['n.title', 'v.model_id', 'v.kind', 'v.position', 'v.number', 'v.start_at', 'v.end_at', 'v.vector'])
    .where('v.project_id', '=', project.id)
    .orderBy('v.model_id')
    .orderBy('v.note_id')
    .orderBy('v.kind')
    .orderBy('v.position')
    .orderBy('v.number')
    .execute()
  return rows.map((row) => ({
    note: row.title,
    modelId: row.model_id,
    key: `${row.kind}:${row.position}:${row.number}`,
    start: row.start_at,
    end: row.end_at,
    vector: decodeVector(row.vector),
  }))
}

function decodeVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Float16Array(Uint8Array.from(bytes).buffer))
}
