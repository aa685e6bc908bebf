import { randomBytes } from 'node:crypto'
import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import type { Clock, Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { refuseAgainstAdministrator } from '../guards.ts'
import { requirePerson, requireUser } from '../look-up.ts'
import type { UserTotpTable } from '../tables.ts'
import { findOrganization } from '../user/store-users.ts'
import { refuseNarrowedKey, requireOwner } from './recent-authentication.ts'
import { mintRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts'
import {
  confirmTotp,
  deleteTotp,
  findTotp,
  putTotp,
  replaceRecoveryCodes,
  useRecoveryCode,
  useStep,
} from './store-totp.ts'
import { base32, matchingStep, otpauthUri, TOTP_CODE } from './totp.ts'

export interface TotpServiceOptions {
  db: Database
  clock: Clock
  changes: IdentityChanges
  cipher: Cipher
}

export interface Enrolment {
  userId: UserId
  /** As a person types it. */
  secret: string
  uri: string
}

/** `none`: the user has no second factor. `missing`, `wrong`: there is one, and it was not proved. */
export type Proof = 'none' | 'missing' | 'wrong' | 'totp' | 'recovery_code'

// The length of an HMAC-SHA-1 key that RFC 4226 recommends.
const SECRET_BYTES = 20

export class TotpService {
  readonly #options: TotpServiceOptions

  constructor(options: TotpServiceOptions) {
    this.#options = options
  }

  /** A new secret, which counts once a code of it was confirmed. One that was not confirmed yet is replaced. */
  async enrol(principal: Principal): Promise<Enrolment> {
    const { db, clock, cipher } = this.#options
    const secret = randomBytes(SECRET_BYTES)
    return db.write(async (tx) => {
      const now = clock.now()
      const user = await requireSelf(tx, principal)
      await requireOwner(tx, principal, now)
      if ((await findTotp(tx, user.id))?.confirmed_at) {
        throw new AppError('conflict', 'You have a second factor already: remove it before you enrol another one')
      }
      const encrypted = cipher.encrypt(secret, bindingOf(user.id))
      await putTotp(tx, { user_id: user.id, secret: encrypted, confirmed_at: null, last_step: 0, created_at: now })
      const { name: issuer } = await findOrganization(tx, user.organizationId)
      return { userId: user.id, secret: base32(secret), uri: otpauthUri(secret, issuer, user.email) }
    })
  }

  /** Answers the recovery codes, which nobody sees again. */
  async confirm(principal: Principal, input: { code: string }, client?: ClientInfo): Promise<string[]> {
    const { db, clock, changes } = this.#options
    const codes = mintRecoveryCodes()
    await db.write(async (tx) => {
      const now = clock.now()
      const user = await requireSelf(tx, principal)
      await refuseNarrowedKey(tx, principal)
      const row = await findTotp(tx, user.id)
      if (row === undefined) {
        throw new AppError(
          'failed_precondition',
          'There is no enrolment to confirm: begin with POST /current_user/totp',
        )
      }
      if (row.confirmed_at !== null) throw new AppError('conflict', 'Your second factor is confirmed already')
      const step = matchingStep(this.#secretOf(row), withoutBlanks(input.code), now, row.last_step)
      if (step === undefined) {
        throw new AppError('invalid_argument', 'data.attributes.code is not the current code of the enrolled secret')
      }
      // The code that confirms is used up: it does not sign in as well.
      await confirmTotp(tx, user.id, step, now)
      await replaceRecoveryCodes(tx, user.id, codes.map(recoveryCodeHash))
      await auditChange(tx, principal, { action: 'mfa.enrolled', target: { type: 'users', id: user.id } }, client)
      changes.announce(tx)
    })
    return codes
  }

  async remove(principal: Principal, client?: ClientInfo): Promise<void> {
    await this.#options.db.write(async (tx) => {
      const user = await requireSelf(tx, principal)
      await requireOwner(tx, principal, this.#options.clock.now())
      await remove(tx, this.#options.changes, principal, user.id, client)
    })
  }

  reset(principal: Principal, input: { userId: UserId }, client?: ClientInfo): Promise<void> {
    return resetTotp(this.#options, principal, input, client)
  }

  /** Uses a code up, in the transaction of the sign-in it is for. */
  async prove(tx: Transaction, userId: UserId, code: string | null, now: Micros): Promise<Proof> {
    const row = await findTotp(tx, userId)
    if (row === undefined || row.confirmed_at === null) return 'none'
    const sent = withoutBlanks(code ?? '')
    if (sent === '') return 'missing'
    if (!TOTP_CODE.test(sent)) {
      return (await useRecoveryCode(tx, userId, recoveryCodeHash(sent), now)) ? 'recovery_code' : 'wrong'
    }
    const step = matchingStep(this.#secretOf(row), sent, now, row.last_step)
    return step !== undefined && (await useStep(tx, userId, step)) ? 'totp' : 'wrong'
  }

  #secretOf(row: UserTotpTable): Buffer {
    const secret = this.#options.cipher.decrypt(row.secret, bindingOf(row.user_id))
    if (secret !== undefined) return secret
    const cause = new Error('The stored secret of a second factor was not made by the key of this installation')
    throw new AppError('internal', 'The second factor cannot be checked', { cause })
  }
}

/** For somebody who lost the device: the next sign-in needs the password alone. */
export async function resetTotp(
  { db, clock, changes }: Pick<TotpServiceOptions, 'db' | 'clock' | 'changes'>,
  principal: Principal,
  { userId }: { userId: UserId },
  client?: ClientInfo,
): Promise<void> {
  await db.write(async (tx) => {
    const user = await requireUser(tx, principal, userId)
    if (user.id === principal.userId) await requireOwner(tx, principal, clock.now())
    await refuseAgainstAdministrator(tx, principal, user, 'reset the second factor of')
    await remove(tx, changes, principal, user.id, client)
  })
}

async function remove(
  tx: Transaction,
  changes: IdentityChanges,
  principal: Principal,
  userId: UserId,
  client?: ClientInfo,
): Promise<void> {
  if (!(await deleteTotp(tx, userId))) throw new AppError('not_found', `User ${userId} has no second factor`)
  await auditChange(tx, principal, { action: 'mfa.removed', target: { type: 'users', id: userId } }, client)
  changes.announce(tx)
}

function bindingOf(userId: UserId): string {
  return `user_totp ${userId}`
}

function withoutBlanks(code: string): string {
  return code.replaceAll(/\s/g, '')
}

async function requireSelf(tx: Transaction, principal: Principal) {
  if (principal.userId === null) throw new AppError('permission_denied', 'Only a user has a second factor')
  return requirePerson(tx, principal, principal.userId)
}
