import type { Clock } from '../../../platform/clock/clock.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { Database } from '../../../platform/storage/database.ts'
import type { PostgresDatabase } from '../../../platform/storage/postgres.ts'
import { SqliteDatabase } from '../../../platform/storage/sqlite.ts'
import type { VectorPlace } from './store-vector-connection.ts'
import { ThreadVectorSearch } from './thread-vector-search.ts'
import type { VectorSearch } from './vector-search.ts'

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
