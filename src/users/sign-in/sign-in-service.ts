import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { parseEmail } from '../../platform/text/email.ts'
import { findOrganizationId } from '../store-installation.ts'
import { findUser, findUserByEmail } from '../user/store-users.ts'
import type { User } from '../user/user.ts'
import { codeRequired, recordFailedSignIn, signInFailed } from './failed-sign-in.ts'
import { verifyPassword } from './password.ts'
import type { StartedSession } from './session.ts'
import type { SessionService } from './session-service.ts'
import { findPasswordHash } from './store-passwords.ts'
import type { TotpService } from './totp-service.ts'

export interface SignInServiceOptions {
  db: Database
  clock: Clock
  sessions: SessionService
  totp: TotpService
  settings: { login_methods: readonly string[] }
}

export interface SignIn {
  email: string
  password: string
  /** A code of the second factor, or a recovery code. */
  code: string | null
}

export interface SignedIn {
  user: User
  session: StartedSession
}

type Outcome = SignedIn | 'failed' | 'code_required'

// Looked up where there is no user, so that an unknown address costs the same statements.
const NOBODY = '00000000-0000-0000-0000-000000000000' as UserId

export class SignInService {
  readonly #options: SignInServiceOptions

  constructor(options: SignInServiceOptions) {
    this.#options = options
  }

  /**
   * One text and one amount of work for every way to fail: an unknown address, a wrong password, a wrong code, and
   * somebody who may not sign in. That a code is needed is told only to whoever knows the password.
   */
  async signIn(input: SignIn, client?: ClientInfo): Promise<SignedIn> {
    const { db } = this.#options
    const organizationId = await findOrganizationId(db)
    if (organizationId === undefined) throw signInFailed()
    // What is no address is nobody's address.
    const email = parseEmail(input.email) ?? ''
    const user = await findUserByEmail(db, organizationId, email)
    const hash = await findPasswordHash(db, user?.id ?? NOBODY)
    const isRight = await verifyPassword(hash, input.password)
    const outcome = await db.write((tx) =>
      user === undefined
        ? this.#fail(tx, organizationId, null, 'unknown_user', client)
        : this.#judge(tx, user, isRight ? hash : null, input.code, client),
    )
    if (outcome === 'code_required') throw codeRequired()
    if (outcome === 'failed') throw signInFailed()
    return outcome
  }

  /** `provedHash`: what the password was compared with. If it was changed meanwhile, the old one opens nothing. */
  async #judge(
    tx: Transaction,
    known: User,
    provedHash: string | null,
    code: string | null,
    client?: ClientInfo,
  ): Promise<Outcome> {
    const { id, organizationId } = known
    const fail = (reason: string) => this.#fail(tx, organizationId, id, reason, client)
    if (provedHash === null) return fail('wrong_password')
    if ((await findPasswordHash(tx, id)) !== provedHash) return fail('wrong_password')
    const user = await findUser(tx, organizationId, id)
    if (user === undefined || user.status !== 'Active') return fail('not_active')
    if (!this.#mayUsePassword(user)) return fail('method_not_allowed')
    const { totp, sessions, clock } = this.#options
    const proof = await totp.prove(tx, id, code, clock.now())
    if (proof === 'missing') return 'code_required'
    if (proof === 'wrong') return fail('wrong_code')
    const method = proof === 'none' ? 'password' : `password+${proof}`
    const session = await sessions.startSession(tx, user, client, method)
    return { user: (await findUser(tx, organizationId, id)) as User, session }
  }

  #mayUsePassword(user: User): boolean {
    if (!this.#options.settings.login_methods.includes('password') || user.serviceAccount) return false
    return user.allowedLoginMethods.length === 0 || user.allowedLoginMethods.includes('password')
  }

  async #fail(
    tx: Transaction,
    organizationId: OrganizationId,
    userId: UserId | null,
    reason: string,
    client?: ClientInfo,
  ): Promise<'failed'> {
    await recordFailedSignIn(tx, { organizationId, userId, method: 'password', reason }, client)
    return 'failed'
  }
}
