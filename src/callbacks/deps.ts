import type { Clock } from '../platform/clock/clock.ts'
import type { JobEngine } from '../platform/jobs/job-engine.ts'
import type { Logger } from '../platform/logging/logger.ts'
import type { SharedMemory } from '../platform/memory/shared-memory.ts'
import type { Outbound } from '../platform/outbound/outbound-request.ts'
import type { Cipher } from '../platform/secrets/cipher.ts'
import type { Database } from '../platform/storage/database.ts'
import type { Metrics } from '../platform/telemetry/metrics.ts'
import type { DomainRules } from './deliver/lanes.ts'
import type { CallbacksSettings } from './settings.ts'

/** What the callbacks feature is built from. */
export interface CallbacksDeps {
  db: Database
  clock: Clock
  log: Logger
  settings: CallbacksSettings
  jobs: JobEngine
  metrics: Metrics
  /** For what has to be read again: signing secrets, and what a callback carries. */
  cipher: Cipher
  /** What carries requests out; without it a client of the callbacks' own does. */
  outbound?: Outbound
  /** For what is large and in flight; of its own unless given. */
  inputMemory?: SharedMemory<number>
  /** Without them every host may be called. */
  domains?: DomainRules
}
