import { type Static, Type } from 'typebox'
import type { User } from '../user/user.ts'

export const EmailVerificationBody = Type.Object({
  data: Type.Object({
    type: Type.Literal('email_verifications'),
    attributes: Type.Object({ token: Type.String({ maxLength: 4_096, description: 'From the link.' }) }),
  }),
})

export const EmailVerificationDocument = Type.Object({
  data: Type.Object({
    type: Type.Literal('email_verifications'),
    id: Type.String({ description: 'Of the user.' }),
    attributes: Type.Object({ email: Type.String(), verified: Type.Boolean() }),
  }),
})

export function emailVerificationToWire({ id, email, verified }: User): Static<typeof EmailVerificationDocument> {
  return { data: { type: 'email_verifications', id, attributes: { email, verified } } }
}
