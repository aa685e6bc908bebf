import type { Static } from 'typebox'
import type { IdentityChanges } from '../platform/auth/identity-changes.ts'
import type { UserId } from '../platform/auth/principal.ts'
import type { Clock, Micros } from '../platform/clock/clock.ts'
import type { JobEngine } from '../platform/jobs/job-engine.ts'
import type { Logger } from '../platform/logging/logger.ts'
import type { PersonalData } from '../platform/personal-data/personal-data.ts'
import type { Cipher } from '../platform/secrets/cipher.ts'
import type { Database } from '../platform/storage/database.ts'
import type { usersSettings } from './settings.ts'

/** What the users feature is built from. */
export interface UsersDeps {
  db: Database
  clock: Clock
  log: Logger
  mode: 'dev' | 'serve'
  settings: Static<typeof usersSettings>
  dataDir: string
  jobs: JobEngine
  changes: IdentityChanges
  /** Where every feature says what it keeps about people. */
  personalData: PersonalData
  /** For secrets that have to be read again. */
  cipher: Cipher
  /** Told of every user who signed in. Must not throw. */
  onSignedIn?(userId: UserId, now: Micros): void
  /** The public address of this server, without a slash at the end. Never from a request. */
  baseUrl(): string
}
