import type { Clock } from '../../../platform/clock/clock.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { Database } from '../../../platform/storage/database.ts'
import type { PostgresDatabase } from '../../../platform/storage/postgres.ts'
import { SqliteDatabase } from '../../../platform/storage/sqlite.ts'
import type { NearChunk } from './near-chunk.ts'

import type { VectorPlace } from './store-vector-connection.ts'
import { ThreadVectorSearch } from './thread-vector-search.ts'

export type { NearChunk } from './near-chunk.ts'

/** What is near in meaning. Every row of `note_vectors` that was committed before the question is seen by it. */
export interface VectorSearch extends AsyncDisposable {
  /**
   * The `k` chunks most similar to the vector, best first. `unavailable` when the stored vectors cannot be read; the reason of the
   * signal as soon as it aborts.
   */
  nearest(
    projectId: number,
    modelId: number,
    vector: Float32Array,
    k: number,
    signal?: AbortSignal,
  ): Promise<NearChunk[]>
}

export interface VectorSearchDeps {
  db: Database
  clock: Clock
  log: Logger
  settings: { vector_memory_bytes: number }
}

export function openVectorSearch({ db, clock, log, settings }: VectorSearchDeps): VectorSearch {
  const maxBytes = settings.vector_memory_bytes
  return new ThreadVectorSearch({ place: placeOf(db), maxBytes, clock, log })
}

export function placeOf(db: Database): VectorPlace {
  if (db instanceof SqliteDatabase) return { engine: 'sqlite', file: db.file }
  return { engine: 'postgres', url: (db as PostgresDatabase).url }
}
