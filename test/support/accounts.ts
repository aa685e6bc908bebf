import { DatabaseAuthenticator } from '../../src/platform/auth/authenticator.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import { type Clock, MICROS_PER_MS, type Micros, SystemClock } from '../../src/platform/clock/clock.ts'
import { JobEngine } from '../../src/platform/jobs/job-engine.ts'
import { openCipher } from '../../src/platform/secrets/open-cipher.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { resolveRole } from '../../src/users/index.ts'
import { MailOutbox } from '../../src/users/mail/mail-outbox.ts'
import { PasswordService } from '../../src/users/sign-in/password-service.ts'
import { SessionService } from '../../src/users/sign-in/session-service.ts'
import { SignInService } from '../../src/users/sign-in/sign-in-service.ts'
import { stepAt, totpCode } from '../../src/users/sign-in/totp.ts'
import { TotpService } from '../../src/users/sign-in/totp-service.ts'
import { bearer, installed, principalOf } from './identity.ts'
import { silentLogger } from './silent-logger.ts'

export const PASSWORD = 'a password for tests'

const SETTINGS = {
  session_idle: 3_600_000,
  session_max: 86_400_000,
  password_min_length: 12,
  require_mfa: 'off' as 'off' | 'admins' | 'all',
  login_methods: ['password'],
  smtp_url: 'smtp://localhost:1' as string | null,
}

/** Everything about signing in, over a database after its first start. */
export async function accounts(db: Database, clock: Clock = new SystemClock(), chosen: Partial<typeof SETTINGS> = {}) {
  const settings = { ...SETTINGS, ...chosen }
  const identity = await installed(db, clock)
  const { changes, operator } = identity
  const cipher = await openCipher({ db, clock, encryptionKey: null })
  const jobs = new JobEngine({ db, clock, log: silentLogger() })
  const deps = { db, clock, changes, cipher, jobs, settings }
  const sessions = new SessionService(deps)
  const totp = new TotpService(deps)
  const signIns = new SignInService({ ...deps, sessions, totp })
  const passwords = new PasswordService({ ...deps, sessions, outbox: new MailOutbox(deps) })
  const authenticator = new DatabaseAuthenticator({
    ...deps,
    log: silentLogger(),
    mode: 'serve',
    sessionIdleMs: settings.session_idle,
    sessionMaxMs: settings.session_max,
    requireMfa: settings.require_mfa,
  })

  /** An Active person with the password of the tests. */
  async function person(email: string, role?: string): Promise<UserId> {
    const roleIds = role === undefined ? [] : [(await resolveRole(db, operator, role)).id]
    const { id } = await identity.users.create(operator, { email, roleIds, vouchedFor: true })
    await identity.users.setPassword(operator, { userId: id, password: PASSWORD })
    return id
  }

  const signIn = (email: string, code: string | null = null, password = PASSWORD) =>
    signIns.signIn({ email, password, code }, { address: '192.0.2.1', userAgent: 'test', requestId: 'r' })

  /** Who calls with the session of a sign-in. */
  const principal = async (token: string) => principalOf(authenticator, bearer(token))

  /** Signs in, enrols and confirms a second factor. */
  async function enrolled(email: string) {
    const { session } = await signIn(email)
    const caller = await principal(session.token)
    const { secret } = await totp.enrol(caller)
    const codeAt = (at: Micros) => totpCode(fromBase32(secret), stepAt(at))
    const codes = await totp.confirm(caller, { code: codeAt(clock.now()) })
    return { caller, secret, codes, codeAt, session }
  }

  return {
    ...identity,
    ...deps,
    sessions,
    totp,
    signIns,
    passwords,
    authenticator,
    person,
    signIn,
    principal,
    enrolled,
  }
}

/** What an app makes of the secret that a person typed in. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((char) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}

export const STEP_MICROS = 30_000 * MICROS_PER_MS
