import type { Clock } from '../../../platform/clock/clock.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { Database } from '../../../platform/storage/database.ts'
import { SqliteDatabase } from '../../../platform/storage/sqlite.ts'
import type { Worker } from '../../../platform/supervisor/supervisor.ts'
import type { Project } from '../../note/note.ts'
import { SqliteSearchIndex } from './sqlite-search-index.ts'

/** The words of all notes. */
export interface SearchIndex extends Worker {
  /**
   * Settles when everything that was written before the call, in this project or in any, is found. To be awaited before any question is
   * put to the table `note_search`. `unavailable` when that takes too long.
   */
  caughtUp(project?: Pick<Project, 'id'>): Promise<void>
  /** The same for whoever would rather hear of less than of nothing, and says so. */
  catchUp(project?: Pick<Project, 'id'>): Promise<CaughtUp>
}

/** `behind`: the index cannot be written right now, as on a full disk, and lacks the latest changes. */
export type CaughtUp = 'current' | 'behind'

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
}
