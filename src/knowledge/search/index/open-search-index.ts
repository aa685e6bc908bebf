import type { Clock } from '../../../platform/clock/clock.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { Database } from '../../../platform/storage/database.ts'
import { SqliteDatabase } from '../../../platform/storage/sqlite.ts'
import type { SearchIndex } from './search-index.ts'
import { SqliteSearchIndex } from './sqlite-search-index.ts'

export interface SearchIndexOptions {
  db: Database
  clock: Clock
  log: Logger
}

export function openSearchIndex({ db, clock, log }: SearchIndexOptions): SearchIndex {
  return db instanceof SqliteDatabase ? new SqliteSearchIndex({ db, clock, log }) : ALWAYS_CURRENT
}

/** PostgreSQL writes the rows of a note in the same change. */
const ALWAYS_CURRENT: SearchIndex = {
  name: 'search index',
  async run() {},
  async caughtUp() {},
  catchUp: async () => 'current',
  isCurrent: async () => true,
}
