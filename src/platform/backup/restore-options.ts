import type { Clock } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Migration } from '../storage/migrations/index.ts'
import type { BackupFormat } from './backup.ts'
import type { RowCounts } from './count-rows.ts'

export interface RestoreOptions {
  file: string
  dataDir: string
  databaseUrl?: string | null
  clock: Clock
  log: Logger
  onProgress?: RestoreProgress
  /** The list of this version unless a test brings its own. */
  migrations?: readonly Migration[]
}

/** In bytes of the file; a total of 0 means that nobody can say. */
export type RestoreProgress = (step: 'loading' | 'verifying' | 'upgrading', done: number, total: number) => void

export interface RestoreResult {
  format: BackupFormat
  /** Version of the schema in the backup; what is restored has this program's. */
  schema: number
  rows: RowCounts
}
