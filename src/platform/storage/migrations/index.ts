import type { Kysely } from 'kysely'
import type { Engine } from '../engine.ts'
import * as foundation from './0001-foundation.ts'
import * as users from './0002-users.ts'
import * as knowledge from './0003-knowledge.ts'
import * as roleRemoval from './0004-role-removal.ts'
import * as callbacks from './0005-callbacks.ts'
import * as instance from './0006-instance.ts'
import * as vectors from './0007-vectors.ts'
import * as searchWords from './0008-search-words.ts'
import * as userHandles from './0009-user-handles.ts'
import * as waitingReplays from './0010-waiting-replays.ts'
import * as searchPieces from './0011-search-pieces.ts'
import * as searchAgain from './0012-search-again.ts'
import * as readAgain from './0013-read-again.ts'
import * as formerProjectNames from './0014-former-project-names.ts'
import * as searchVariants from './0015-search-variants.ts'
import * as tenantStatistics from './0016-tenant-statistics.ts'

export interface Migration {
  name: string
  up(db: Kysely<unknown>, engine: Engine): Promise<void>
}

/** In order; the number of a migration is its place here, starting at 1. Released ones are never edited. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  users,
  knowledge,
  roleRemoval,
  callbacks,
  instance,
  vectors,
  searchWords,
  userHandles,
  waitingReplays,
  searchPieces,
  searchAgain,
  readAgain,
  formerProjectNames,
  searchVariants,
  tenantStatistics,
]
