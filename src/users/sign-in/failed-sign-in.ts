import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'

export interface FailedSignIn {
  organizationId: OrganizationId
  /** Null where nobody has the address. */
  userId: UserId | null
  method: 'password' | 'invitation'
  reason: string
}

export async function recordFailedSignIn(tx: Transaction, failed: FailedSignIn, client?: ClientInfo): Promise<void> {
  const { organizationId, userId, method, reason } = failed
  await recordAudit(tx, {
    organizationId,
    action: 'session.failed',
    outcome: 'failure',
    // Who it was is what nobody knows.
    actor: { kind: 'user', id: null, method, credentialId: null },
    target: userId === null ? null : { type: 'users', id: userId },
    changes: { reason: { new: reason } },
    client,
  })
}

export function signInFailed(): AppError {
  return new AppError('unauthenticated', 'Sign-in failed')
}

export function codeRequired(): AppError {
  return new AppError('unauthenticated', 'TOTP code required')
}
