import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { mintRecoveryCodes, recoveryCodeHash } from '../../src/users/sign-in/recovery-codes.ts'
import { putTotp, replaceRecoveryCodes } from '../../src/users/sign-in/store-totp.ts'
import { silentLogger } from './silent-logger.ts'
import type { TestServer } from './start-server.ts'

/** Gives somebody a confirmed second factor whose secret nobody knows; answers its recovery codes. */
export async function giveSecondFactor({ dataDir }: TestServer, email: string): Promise<string[]> {
  const clock = new SystemClock()
  await using db = await openDatabase({ dataDir, clock, log: silentLogger() })
  const codes = mintRecoveryCodes()
  await db.write(async (tx) => {
    const { id } = await tx.query.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow()
    await putTotp(tx, { user_id: id, secret: 'x', confirmed_at: clock.now(), last_step: 0, created_at: clock.now() })
    await replaceRecoveryCodes(tx, id, codes.map(recoveryCodeHash))
  })
  return codes
}
