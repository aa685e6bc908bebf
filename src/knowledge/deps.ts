import type { Clock } from '../platform/clock/clock.ts'
import type { JobEngine } from '../platform/jobs/job-engine.ts'
import type { Logger } from '../platform/logging/logger.ts'
import type { PersonalData } from '../platform/personal-data/personal-data.ts'
import type { Database } from '../platform/storage/database.ts'
import type { SearchIndex } from './search/index/search-index.ts'
import type { Semantic } from './semantic/semantic.ts'
import type { KnowledgeSettings } from './settings.ts'

/** What the knowledge feature is built from. */
export interface KnowledgeDeps {
  db: Database
  clock: Clock
  log: Logger
  settings: KnowledgeSettings
  jobs: JobEngine
  personalData: PersonalData
  searchIndex: SearchIndex
  /** Null: search by meaning is switched off. */
  semantic: Semantic | null
  /** The public address of this server, without a slash at the end. */
  baseUrl(): string
}
