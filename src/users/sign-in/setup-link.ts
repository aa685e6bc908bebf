import { findFirstAdministrator } from '../../platform/auth/store.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import { mintLink } from '../invitation/user-links.ts'
import { findPasswordHash } from './store-passwords.ts'

const TTL_MS = 24 * 3_600_000

/**
 * A one-time address under which the first administrator chooses a password. It is a secret: for the terminal of the
 * operator, not for a log. Null when there is nobody without a password.
 */
export async function mintSetupLink(db: Database, clock: Clock, baseUrl: string): Promise<string | null> {
  const token = await db.write(async (tx) => {
    const [administrator] = await tx.run(findFirstAdministrator, {})
    if (administrator === undefined) return null
    if ((await findPasswordHash(tx, administrator.user_id)) !== null) return null
    return mintLink(tx, { userId: administrator.user_id, purpose: 'setup', ttlMs: TTL_MS, now: clock.now() })
  })
  return token === null ? null : `${baseUrl}/setup#token=${token}`
}
