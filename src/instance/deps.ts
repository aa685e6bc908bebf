import type { IdentityChanges } from '../platform/auth/identity-changes.ts'
import type { UserId } from '../platform/auth/principal.ts'
import type { Clock, Micros } from '../platform/clock/clock.ts'
import type { Source } from '../platform/config/origins.ts'
import type { JobEngine } from '../platform/jobs/job-engine.ts'
import type { Logger } from '../platform/logging/logger.ts'
import type { FetchJson } from '../platform/outbound/fetch-json.ts'
import type { PersonalData } from '../platform/personal-data/personal-data.ts'
import type { Cipher } from '../platform/secrets/cipher.ts'
import type { Database, Reader } from '../platform/storage/database.ts'
import type { LogInRecorder } from './numbers/log-in-recorder.ts'
import type { EnforcedLimits } from './public/configuration-document.ts'
import type { InstanceSettings } from './settings.ts'

/** What the users feature counts. Days are `YYYY-MM-DD`, UTC. */
export interface UserFacts {
  /** Neither disabled nor anonymized nor a service account. */
  countUsers(reader: Reader): Promise<number>
  countRegistrations(reader: Reader, days: readonly string[]): Promise<Map<string, number>>
}

/** What the knowledge feature counts. */
export interface NoteFacts {
  countNotes(reader: Reader): Promise<number>
  countCreatedNotes(reader: Reader, days: readonly string[]): Promise<Map<string, number>>
  notesOf(reader: Reader, userId: UserId): Promise<{ count: number; lastCreatedAt: Micros | null }>
}

/** What the instance feature is built from. */
export interface InstanceDeps {
  db: Database
  clock: Clock
  log: Logger
  /** From file, environment and defaults; what is stored lies over them. */
  settings: InstanceSettings
  /** Who set each key, by its whole path: `instance.title`. */
  sources: ReadonlyMap<string, Source>
  jobs: JobEngine
  personalData: PersonalData
  /** For secrets that have to be read again. */
  cipher: Cipher
  identityChanges: IdentityChanges
  users: UserFacts
  notes: NoteFacts
  logIns: LogInRecorder
  /** What other features enforce, and the instance therefore tells. */
  limits: EnforcedLimits
  fetchJson: FetchJson
  /** The public address of this server, without a slash at the end. Never from a request. */
  baseUrl(): string
}
