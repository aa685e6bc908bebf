/** Invitations as they travel: the only place where their member names appear. */
import { type Static, Type } from 'typebox'
import { type Micros, toRfc3339, toRfc3339OrNull } from '../../platform/clock/clock.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import { bodyOf, pageFields, secretText } from '../schema-fields.ts'
import { PageMeta, reference } from '../wire.ts'
import { INVITATION_STATUSES, type Invitation, statusOf } from './invitation.ts'

const LARGEST_BATCH = 100

const time = () => Type.String({ format: 'date-time' })

const attributes = {
  created_at: time(),
  expires_at: time(),
  invite_type: Type.String(),
  uuid: Type.String({ description: 'The same as `id`.' }),
  login_method: nullable(Type.String()),
  status: Type.String({ description: INVITATION_STATUSES.join(', ') }),
  accepted_at: nullable(time()),
  delivery: Type.String({ description: 'queued, sent, failed, disabled' }),
}

function resource<Attributes extends Parameters<typeof Type.Object>[0]>(members: Attributes) {
  return Type.Object({
    type: Type.Literal('user_invitations'),
    id: Type.String(),
    attributes: Type.Object(members),
    relationships: Type.Object({ user: Type.Object({ data: reference('users') }) }),
  })
}

const InvitationResource = resource(attributes)
export const InvitationDocument = Type.Object({ data: InvitationResource })
export const InvitationListDocument = Type.Object({ data: Type.Array(InvitationResource), meta: PageMeta })

export const SentInvitationsDocument = Type.Object({
  data: Type.Array(InvitationResource),
  meta: Type.Optional(
    Type.Object({
      accept_links: Type.Record(Type.String(), Type.String(), {
        description:
          'Invitation id to link; only without a mail server, for callers with user_access_manage. Left out for administrators, and for users who had a password or second factor before, where they have a permission that the caller lacks.',
      }),
    }),
  ),
})

export const InvitationLookUpDocument = Type.Object({
  data: resource({ ...attributes, email: Type.String(), org_name: Type.String() }),
})

export const RevokedInvitationsDocument = Type.Object({ meta: Type.Object({ revoked_count: Type.Integer() }) })

export const SendInvitationsBody = Type.Object({
  data: Type.Array(
    Type.Object({
      type: Type.Literal('user_invitations'),
      relationships: Type.Object({ user: Type.Object({ data: reference('users') }) }),
    }),
    { minItems: 1, maxItems: LARGEST_BATCH },
  ),
})

export const InvitationTokenBody = bodyOf('invitation_tokens', { token: secretText('From the link.') })

export const AcceptInvitationBody = bodyOf('invitation_acceptances', {
  token: secretText('From the link.'),
  password: Type.Optional(secretText('Required unless this server has no sign-in by password.')),
  name: Type.Optional(nullable(Type.String())),
  totp: Type.Optional(
    nullable(
      secretText('A code of the second factor, or one of the recovery codes; for somebody who has one from before.'),
    ),
  ),
})

export const InvitationPath = Type.Object({ user_invitation_uuid: Type.String() })
export const InvitedUserPath = Type.Object({ user_id: Type.String() })

export const InvitationListQuery = Type.Object({
  ...pageFields,
  'filter[status]': Type.Optional(
    Type.String({ description: `Comma-separated: ${INVITATION_STATUSES.join(', ')}. Upper or lower case.` }),
  ),
  'filter[user]': Type.Optional(Type.String({ description: 'Comma-separated ids of users.' })),
})

export type WireInvitation = Static<typeof InvitationResource>

export function invitationToWire(invitation: Invitation, now: Micros): WireInvitation {
  return {
    type: 'user_invitations',
    id: invitation.id,
    attributes: {
      created_at: toRfc3339(invitation.createdAt),
      expires_at: toRfc3339(invitation.expiresAt),
      invite_type: 'openid_invite',
      uuid: invitation.id,
      login_method: null,
      status: statusOf(invitation, now),
      accepted_at: toRfc3339OrNull(invitation.acceptedAt),
      delivery: invitation.delivery,
    },
    relationships: { user: { data: { id: invitation.userId, type: 'users' } } },
  }
}

export function lookUpToWire(
  invitation: Invitation,
  facts: { email: string; organization: string },
  now: Micros,
): Static<typeof InvitationLookUpDocument> {
  const { attributes, ...rest } = invitationToWire(invitation, now)
  return { data: { ...rest, attributes: { ...attributes, email: facts.email, org_name: facts.organization } } }
}
