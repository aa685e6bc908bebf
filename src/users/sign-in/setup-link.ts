import type { UserId } from '../../platform/auth/principal.ts'
import { findFirstAdministrator } from '../../platform/auth/store.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import { mintLink } from '../invitation/user-links.ts'
import { findPasswordHash } from './store-passwords.ts'

const TTL_MS = 24 * 3_600_000

/**
 * A one-time address under which the first administrator chooses a password. It is a secret: for the terminal of the
 * operator, not for a log. The one before it stops working. Null as soon as the first administrator has a password.
 */
export async function mintSetupLink(db: Database, clock: Clock, baseUrl: string): Promise<string | null> {
  // Later starts have nothing to write.
  if ((await whoIsWaitedFor(db)) === null) return null
  const token = await db.write(async (tx) => {
    const userId = await whoIsWaitedFor(tx)
    return userId && mintLink(tx, { userId, purpose: 'setup', ttlMs: TTL_MS, now: clock.now() })
  })
  return token === null ? null : `${baseUrl}/setup#token=${token}`
}

async function whoIsWaitedFor(reader: Reader): Promise<UserId | null> {
  const [administrator] = await reader.run(findFirstAdministrator, {})
  if (administrator === undefined) return null
  return (await findPasswordHash(reader, administrator.user_id)) === null ? administrator.user_id : null
}
