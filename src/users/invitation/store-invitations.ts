import type { Expression, Selectable, SqlBool } from 'kysely'
import type { OrganizationId, UserId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { unindexed } from '../../platform/storage/look-up.ts'
import { addToTally, readTallies } from '../../platform/tally/store.ts'
import { toUser } from '../user/store-users.ts'
import type { Invitation, InvitationStatus } from './invitation.ts'
import '../tables.ts'
import type { InvitationId, UserInvitationsTable } from '../tables.ts'
import type { User } from '../user/user.ts'

type State = UserInvitationsTable['state']

const STATES: readonly State[] = ['pending', 'accepted', 'revoked']

function tally(organizationId: OrganizationId, state: State): string {
  return `invitations ${organizationId} ${state}`
}

async function moveTally(tx: Transaction, organizationId: OrganizationId, to: State, amount: number): Promise<void> {
  await addToTally(tx, tally(organizationId, 'pending'), -amount)
  await addToTally(tx, tally(organizationId, to), amount)
}

/** All of one organization. */
export async function insertInvitations(
  tx: Transaction,
  organizationId: OrganizationId,
  invitations: readonly (Invitation & { tokenHash: string | null })[],
): Promise<void> {
  const rows = invitations.map((invitation) => ({
    id: invitation.id,
    organization_id: organizationId,
    user_id: invitation.userId,
    state: invitation.state,
    token_hash: invitation.tokenHash,
    invited_by: invitation.invitedBy,
    delivery: invitation.delivery,
    created_at: invitation.createdAt,
    expires_at: invitation.expiresAt,
    accepted_at: invitation.acceptedAt,
  }))
  await tx.query.insertInto('user_invitations').values(rows).execute()
  await addToTally(tx, tally(organizationId, 'pending'), rows.length)
}

export async function findInvitation(
  reader: Reader,
  organizationId: OrganizationId,
  id: InvitationId,
): Promise<Invitation | undefined> {
  const row = await reader.query
    .selectFrom('user_invitations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toInvitation(row)
}

/** Whatever became of it; whoever holds its token needs no organization. */
export async function findInvitationByToken(reader: Reader, tokenHash: string): Promise<Invitation | undefined> {
  const row = await reader.query
    .selectFrom('user_invitations')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  return row && toInvitation(row)
}

export interface InvitationFilter {
  /** Any of them; undefined for all. */
  statuses?: readonly InvitationStatus[]
  userIds?: readonly UserId[]
}

/** Newest first. */
export async function listInvitations(
  reader: Reader,
  organizationId: OrganizationId,
  filter: InvitationFilter,
  page: { size: number; number: number },
  now: Micros,
): Promise<Invitation[]> {
  const offset = page.size * page.number
  if (filter.userIds?.length === 0 || !Number.isSafeInteger(offset)) return []
  const rows = await matching(reader, organizationId, filter, now)
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.size)
    .offset(offset)
    .execute()
  return rows.map(toInvitation)
}

export interface InvitationCounts {
  total: number
  filtered: number
}

/** Counts rows only where no kept count answers: for one user, or to tell pending from expired. */
export async function countInvitations(
  reader: Reader,
  organizationId: OrganizationId,
  filter: InvitationFilter,
  now: Micros,
): Promise<InvitationCounts> {
  const kept = await readTallies(
    reader,
    STATES.map((state) => tally(organizationId, state)),
  )
  const of = (state: State) => kept.get(tally(organizationId, state)) as number
  const total = STATES.reduce((sum, state) => sum + of(state), 0)
  const { statuses, userIds } = filter
  if (userIds !== undefined) {
    return { total, filtered: userIds.length === 0 ? 0 : await countRows(reader, organizationId, filter, now) }
  }
  if (statuses === undefined) return { total, filtered: total }
  let filtered = 0
  for (const state of ['accepted', 'revoked'] as const) if (statuses.includes(state)) filtered += of(state)
  const open = statuses.filter((status) => status === 'pending' || status === 'expired')
  if (new Set(open).size === 2) filtered += of('pending')
  else if (open.length > 0) filtered += await countRows(reader, organizationId, { statuses: open }, now)
  return { total, filtered }
}

async function countRows(
  reader: Reader,
  organizationId: OrganizationId,
  filter: InvitationFilter,
  now: Micros,
): Promise<number> {
  const row = await matching(reader, organizationId, filter, now)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

function matching(reader: Reader, organizationId: OrganizationId, filter: InvitationFilter, now: Micros) {
  const { statuses, userIds } = filter
  let query = reader.query.selectFrom('user_invitations').where('organization_id', '=', organizationId)
  if (userIds !== undefined) query = query.where('user_id', 'in', [...userIds])
  if (statuses === undefined) return query
  return query.where(({ eb, and, or }) => {
    const conditions: Record<InvitationStatus, () => Expression<SqlBool>> = {
      pending: () => and([eb('state', '=', 'pending'), eb('expires_at', '>', now)]),
      expired: () => and([eb('state', '=', 'pending'), eb('expires_at', '<=', now)]),
      accepted: () => eb('state', '=', 'accepted'),
      revoked: () => eb('state', '=', 'revoked'),
    }
    return or([...new Set(statuses)].map((status) => conditions[status]()))
  })
}

/** Whatever of these users is still open stops working. An expired one stays what it is. */
export async function revokeOpen(
  tx: Transaction,
  organizationId: OrganizationId,
  userIds: readonly UserId[],
  now: Micros,
): Promise<Invitation[]> {
  if (userIds.length === 0) return []
  const rows = await tx.query
    .updateTable('user_invitations')
    .set((eb) => ({
      state: 'revoked' as const,
      token_hash: null,
      // Its mail is withdrawn with it and never arrives.
      delivery: eb
        .case()
        .when('delivery', '=', 'queued')
        .then('failed' as const)
        .else(eb.ref('delivery'))
        .end(),
    }))
    // Of those of the users: PostgreSQL would rather go through all that are pending, where its statistics know of none.
    .where(unindexed(tx.engine, 'organization_id'), '=', organizationId)
    .where('user_id', 'in', [...userIds])
    .where('state', '=', 'pending')
    .where('expires_at', '>', now)
    .returningAll()
    .execute()
  await moveTally(tx, organizationId, 'revoked', rows.length)
  return rows.map(toInvitation)
}

/** False when somebody else was faster, or it is too late. */
export async function acceptOpen(tx: Transaction, invitation: Invitation, now: Micros): Promise<boolean> {
  const rows = await tx.query
    .updateTable('user_invitations')
    .set({ state: 'accepted', token_hash: null, accepted_at: now })
    .where('organization_id', '=', invitation.organizationId)
    .where('id', '=', invitation.id)
    .where('state', '=', 'pending')
    .where('expires_at', '>', now)
    .returning('id')
    .execute()
  await moveTally(tx, invitation.organizationId, 'accepted', rows.length)
  return rows.length > 0
}

/** From now on this token accepts the invitation, and no earlier one. */
export async function setInvitationToken(tx: Transaction, invitation: Invitation, tokenHash: string): Promise<void> {
  await tx.query
    .updateTable('user_invitations')
    .set({ token_hash: tokenHash })
    .where('organization_id', '=', invitation.organizationId)
    .where('id', '=', invitation.id)
    .execute()
}

/** Undefined when its mail was settled before. */
export async function setDelivery(
  tx: Transaction,
  id: InvitationId,
  delivery: 'sent' | 'failed',
): Promise<Invitation | undefined> {
  const row = await tx.query
    .updateTable('user_invitations')
    .set({ delivery })
    .where('id', '=', id)
    .where('delivery', '=', 'queued')
    .returningAll()
    .executeTakeFirst()
  return row && toInvitation(row)
}

export async function findUsersById(
  reader: Reader,
  organizationId: OrganizationId,
  ids: readonly UserId[],
): Promise<Map<UserId, User>> {
  if (ids.length === 0) return new Map()
  const rows = await reader.query
    .selectFrom('users')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', 'in', [...ids])
    .execute()
  return new Map(rows.map((row) => [row.id, toUser(row)]))
}

function toInvitation(row: Selectable<UserInvitationsTable>): Invitation {
  return {
    id: row.id,
    organizationId: row.organization_id,
    userId: row.user_id,
    state: row.state,
    invitedBy: row.invited_by,
    delivery: row.delivery,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    acceptedAt: row.accepted_at,
  }
}
