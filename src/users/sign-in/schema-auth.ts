/** Sign-in, sessions, passwords and second factors as they travel: the only place where their member names appear. */
import { type Static, Type } from 'typebox'
import type { UserId } from '../../platform/auth/principal.ts'
import { type Micros, toRfc3339 } from '../../platform/clock/clock.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import { bodyOf, LONGEST_SECRET, secretText } from '../schema-fields.ts'
import { Included, UserResource } from '../wire.ts'
import { LONGEST_PASSWORD } from './password-rules.ts'
import type { Session } from './session.ts'
import type { Enrolment } from './totp-service.ts'

const newPassword = Type.String({
  maxLength: LONGEST_SECRET,
  description: 'The new password. How short it may be is a setting.',
  documented: { maxLength: LONGEST_PASSWORD },
})
const time = () => Type.String({ format: 'date-time' })

export const SignInBody = bodyOf('sign_ins', {
  email: Type.String(),
  password: secretText('The password.'),
  totp: Type.Optional(nullable(secretText('A code of the second factor, or one of the recovery codes.'))),
})

export const PasswordResetBody = bodyOf('password_resets', { email: Type.String() })

export const PasswordResetConfirmBody = bodyOf('password_resets', {
  token: secretText('From the link.'),
  password: newPassword,
})

export const PasswordChangeBody = bodyOf('passwords', {
  current: secretText('The password until now.'),
  new: newPassword,
})

export const TotpConfirmBody = bodyOf('totp_enrollments', { code: secretText('The code that the app shows.') })

const SessionMeta = Type.Object({
  token: nullable(Type.String({ description: 'Shown once, by the sign-in.' })),
  csrf_token: Type.String({ description: 'For the header X-CSRF-Token of requests that change something.' }),
  expires_at: time(),
  totp_enrollment_required: Type.Boolean({
    description: 'The session has no permissions until a second factor is enrolled.',
  }),
})

/** A User document that also says what the caller needs to stay signed in. */
export const SignedInDocument = Type.Object({
  data: UserResource,
  included: Included,
  meta: Type.Object({ session: nullable(SessionMeta) }),
})

export const PasswordResetDocument = Type.Object({
  data: Type.Object({
    type: Type.Literal('password_resets'),
    id: Type.String(),
    attributes: Type.Object({ email: Type.String() }),
  }),
})

export const EnrolmentDocument = Type.Object({
  data: Type.Object({
    type: Type.Literal('totp_enrollments'),
    id: Type.String(),
    attributes: Type.Object({ secret: Type.String(), otpauth_uri: Type.String() }),
  }),
})

export const RecoveryCodesDocument = Type.Object({
  data: Type.Object({
    type: Type.Literal('totp_enrollments'),
    id: Type.String(),
    attributes: Type.Object({ recovery_codes: Type.Array(Type.String()) }),
  }),
})

const SessionResource = Type.Object({
  type: Type.Literal('sessions'),
  id: Type.String(),
  attributes: Type.Object({
    created_at: time(),
    last_seen_at: time(),
    expires_at: time(),
    client_address: nullable(Type.String()),
    user_agent: nullable(Type.String()),
    current: Type.Boolean(),
  }),
})

export const SessionListDocument = Type.Object({ data: Type.Array(SessionResource) })

export type WireSessionMeta = Static<typeof SessionMeta>

export function sessionMeta(session: {
  token?: string
  csrfToken: string
  expiresAt: Micros
  mustEnrol: boolean
}): WireSessionMeta {
  return {
    token: session.token ?? null,
    csrf_token: session.csrfToken,
    expires_at: toRfc3339(session.expiresAt),
    totp_enrollment_required: session.mustEnrol,
  }
}

export function sessionToWire(session: Session, isCurrent: boolean): Static<typeof SessionResource> {
  return {
    type: 'sessions',
    id: session.id,
    attributes: {
      created_at: toRfc3339(session.createdAt),
      last_seen_at: toRfc3339(session.lastSeenAt),
      expires_at: toRfc3339(session.expiresAt),
      client_address: session.clientAddress,
      user_agent: session.userAgent,
      current: isCurrent,
    },
  }
}

export function enrolmentToWire({ userId, secret, uri }: Enrolment): Static<typeof EnrolmentDocument> {
  return { data: { type: 'totp_enrollments', id: userId, attributes: { secret, otpauth_uri: uri } } }
}

export function recoveryCodesToWire(userId: UserId, codes: string[]): Static<typeof RecoveryCodesDocument> {
  return { data: { type: 'totp_enrollments', id: userId, attributes: { recovery_codes: codes } } }
}

export function passwordResetToWire(user: { id: UserId; email: string }): Static<typeof PasswordResetDocument> {
  return { data: { type: 'password_resets', id: user.id, attributes: { email: user.email } } }
}
