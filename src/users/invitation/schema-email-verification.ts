import { type Static, Type } from 'typebox'
import { bodyOf, secretText } from '../schema-fields.ts'
import type { User } from '../user/user.ts'

export const EmailVerificationBody = bodyOf('email_verifications', { token: secretText('From the link.') })

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
