import type { FastifyInstance } from 'fastify'
import { AppError } from '../../platform/errors/app-error.ts'
import { keepAnswerIn } from '../../platform/http/answer/idempotent.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { spend } from '../../platform/http/entry/spend.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId } from '../../platform/http/route/path-id.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { UsersDeps } from '../deps.ts'
import { MailOutbox } from '../mail/mail-outbox.ts'
import { pageOf } from '../page.ts'
import { idList } from '../schema-fields.ts'
import { PUBLIC, spendOnAccount } from '../sign-in/public-limits.ts'
import { SignedInDocument } from '../sign-in/schema-auth.ts'
import { answerWithSession } from '../sign-in/session-answer.ts'
import { SessionService } from '../sign-in/session-service.ts'
import { TotpService } from '../sign-in/totp-service.ts'
import { userDocument } from '../user/user-document.ts'
import { pageMeta } from '../wire.ts'
import { INVITATION_STATUSES, type InvitationStatus } from './invitation.ts'
import { InvitationService, type SentInvitations } from './invitation-service.ts'
import {
  AcceptInvitationBody,
  InvitationDocument,
  InvitationListDocument,
  InvitationListQuery,
  InvitationLookUpDocument,
  InvitationPath,
  InvitationTokenBody,
  InvitedUserPath,
  invitationToWire,
  lookUpToWire,
  RevokedInvitationsDocument,
  SendInvitationsBody,
  SentInvitationsDocument,
} from './schema-invitations.ts'

const READ = { surface: 'users', access: 'user_access_invite', rateLimit: 'users_read' } as const

export function invitationRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const { db, clock } = deps
  const sessions = new SessionService(deps)
  const totp = new TotpService(deps)
  const invitations = new InvitationService({ ...deps, sessions, totp, outbox: new MailOutbox(deps) })

  function sentToWire({ invitations: sent, acceptLinks }: SentInvitations) {
    const now = clock.now()
    const meta = acceptLinks && { accept_links: Object.fromEntries(acceptLinks) }
    return { data: sent.map((one) => invitationToWire(one, now)), ...(meta && { meta }) }
  }

  operation(server, {
    method: 'POST',
    url: '/api/v2/user_invitations',
    operationId: 'SendInvitations',
    summary: 'Invite users',
    description:
      'All of them or none. An earlier invitation of the same user stops working. Without a mail server the answer to callers with user_access_manage holds the links.',
    surface: 'users',
    access: 'user_access_invite',
    // Counted per invitation, once the body is read.
    rateLimit: [{ bucket: 'invitations', per: 'owner', cost: 0 }],
    cacheControl: 'private, no-store',
    idempotent: { blank: ['accept_links'] },
    schema: { body: SendInvitationsBody, response: { 201: SentInvitationsDocument } },
    async handler(request, reply) {
      const userIds = request.body.data.map(({ relationships }) => relationships.user.data.id)
      await spend(request, reply, { bucket: 'invitations', per: 'owner', cost: userIds.length })
      // So that a repeat does not send them again. Links are kept nowhere: whoever was not told of them has to get others.
      const keep = async (tx: Transaction, made: SentInvitations) => {
        if (made.acceptLinks !== null) return
        await keepAnswerIn(tx, request, () => ({ status: 201, headers: {}, body: JSON.stringify(sentToWire(made)) }))
      }
      const sent = await invitations.send(callerOf(request), { userIds }, clientOf(request), keep)
      reply.code(201)
      return sentToWire(sent)
    },
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/user_invitations',
    operationId: 'ListInvitations',
    summary: 'List invitations, newest first',
    ...READ,
    schema: { querystring: InvitationListQuery, response: { 200: InvitationListDocument } },
    async handler(request) {
      const { 'filter[status]': status, 'filter[user]': user } = request.query
      const filter = {
        statuses: statusesOf(status),
        userIds: idList<'User'>(user),
      }
      const list = await invitations.list(callerOf(request), { filter, page: pageOf(request.query) })
      const now = clock.now()
      return { data: list.invitations.map((one) => invitationToWire(one, now)), meta: pageMeta(list.counts) }
    },
  })

  operation(server, {
    method: 'GET',
    url: '/api/v2/user_invitations/:user_invitation_uuid',
    operationId: 'GetInvitation',
    summary: 'Get an invitation',
    ...READ,
    schema: { params: InvitationPath, response: { 200: InvitationDocument } },
    async handler(request) {
      const id = pathId<'Invitation'>('Invitation', request.params.user_invitation_uuid)
      return { data: invitationToWire(await invitations.get(callerOf(request), { id }), clock.now()) }
    },
  })

  operation(server, {
    method: 'DELETE',
    url: '/api/v2/users/:user_id/invitations',
    operationId: 'DeleteUserInvitations',
    summary: 'Revoke every pending invitation of a user',
    surface: 'users',
    access: 'user_access_invite',
    rateLimit: 'users_write',
    schema: { params: InvitedUserPath, response: { 200: RevokedInvitationsDocument } },
    async handler(request) {
      const userId = pathId<'User'>('User', request.params.user_id)
      const revoked = await invitations.revokeAll(callerOf(request), { userId }, clientOf(request))
      return { meta: { revoked_count: revoked } }
    },
  })

  operation(server, {
    method: 'POST',
    url: '/api/v2/user_invitations/lookup',
    operationId: 'LookUpInvitation',
    summary: 'Show what an invitation is for, by its token',
    surface: 'users',
    access: 'public',
    rateLimit: PUBLIC,
    cacheControl: 'private, no-store',
    schema: { body: InvitationTokenBody, response: { 200: InvitationLookUpDocument } },
    async handler(request) {
      const { invitation, ...facts } = await invitations.lookUp(request.body.data.attributes)
      return lookUpToWire(invitation, facts, clock.now())
    },
  })

  operation(server, {
    method: 'POST',
    url: '/api/v2/user_invitations/accept',
    operationId: 'AcceptInvitation',
    summary: 'Accept an invitation: choose a password and sign in',
    description:
      'For somebody who has a second factor from before: 401 "TOTP code required" asks for its code or a recovery code, and 401 "Sign-in failed" says that it is wrong. The invitation stays open.',
    surface: 'users',
    access: 'public',
    rateLimit: PUBLIC,
    schema: { body: AcceptInvitationBody, response: { 200: SignedInDocument } },
    async handler(request, reply) {
      const { attributes } = request.body.data
      // A code has as few guesses here as at a sign-in.
      if (attributes.totp) await spendOnAccount(request, reply, (await invitations.lookUp(attributes)).email)
      const { user, session } = await invitations.accept(attributes, clientOf(request))
      const document = await db.read((snapshot) => userDocument(snapshot, user, deps))
      return { ...document, meta: { session: answerWithSession(reply, deps, session) } }
    },
  })
}

/** `pending,Expired`; undefined for no filter. */
function statusesOf(text: string | undefined): InvitationStatus[] | undefined {
  const words = (text ?? '').split(',').flatMap((word) => word.trim().toLowerCase() || [])
  if (words.length === 0) return undefined
  const unknown = words.filter((word) => !(INVITATION_STATUSES as readonly string[]).includes(word))
  if (unknown.length === 0) return words as InvitationStatus[]
  const problems = unknown.map(
    (word) => `filter[status]: "${shownId(word)}" is not one of ${INVITATION_STATUSES.join(', ')}`,
  )
  throw new AppError('invalid_argument', problems[0] as string, { problems })
}
