import type { FastifyReply } from 'fastify'
import { hashSecret } from '../../platform/auth/secrets.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { spend } from '../../platform/http/entry/spend.ts'
import type { OperationRequest } from '../../platform/http/operation-options.ts'
import { parseEmail } from '../../platform/text/email.ts'

/** For operations without credentials: by where they come from. */
export const PUBLIC: readonly RateRule[] = [{ bucket: 'public_auth', per: 'address' }]

/** And by whom they are about, whether or not there is such a user; not kept in a form that names anybody. */
export function spendOnAccount(request: OperationRequest, reply: FastifyReply, email: string): Promise<void> {
  const subject = hashSecret(parseEmail(email) ?? 'no address')
  return spend(request, reply, { bucket: 'public_auth_account', subject })
}
