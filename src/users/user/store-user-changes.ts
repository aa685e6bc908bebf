/** Which users changed lately, as the audit log tells: every change of a user or a membership is in it. */
import { sql } from 'kysely'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { textsIn } from '../../platform/storage/json-list.ts'

export interface RecentEvent {
  position: number
  /** Whoever may have changed by it. */
  userIds: string[]
  deletedRole?: RoleId
}

// NOTE Whatever else changes a user or a membership belongs here, or lists that are remembered miss it.
const ABOUT_USERS = 'user.%'
const ALSO = ['role.user_added', 'role.user_removed', 'role.deleted', 'session.started', 'invitation.accepted']

/**
 * Those by which a user or a membership may have changed, behind one position up to another, the oldest first; undefined when one
 * does not tell any more. By far the most events are about something else, as notes, and their actors stay as they are.
 */
export async function eventsBetween(reader: Reader, from: number, to: number): Promise<RecentEvent[] | undefined> {
  const rows = await reader.query
    .selectFrom('audit_events')
    .select(['position', 'action', 'actor_id', 'target_id', 'changes'])
    .where('position', '>', from)
    .where('position', '<=', to)
    .where((eb) => eb.or([eb('action', 'like', ABOUT_USERS), eb('action', 'in', ALSO)]))
    .orderBy('position')
    .execute()
  if (rows.some(isBlanked)) return undefined
  return rows.map((row) => ({
    position: row.position,
    // Somebody who signs in or accepts an invitation is the actor; a role that is given or taken names its user.
    userIds: [row.actor_id, row.target_id, ...mentioned(row.changes)].filter((id) => id !== null),
    deletedRole: row.action === 'role.deleted' ? (row.target_id as RoleId) : undefined,
  }))
}

export async function numbersOf(
  reader: Reader,
  organizationId: OrganizationId,
  userIds: readonly string[],
): Promise<number[]> {
  if (userIds.length === 0) return []
  const ids = textsIn(reader.engine, JSON.stringify(userIds))
  // The plus keeps SQLite from the index of the organization, which everybody is in.
  const organization = sql.raw(reader.engine === 'sqlite' ? '+organization_id' : 'organization_id')
  const { rows } = await sql<{ number: number }>`
    select number from users where id in ${ids} and ${organization} = ${organizationId}`.execute(reader.query)
  return rows.map((row) => row.number)
}

/** Whoever gave or took the role was anonymized since, and with it what the event said. */
function isBlanked({ action, changes }: { action: string; changes: string }): boolean {
  return (action === 'role.user_added' || action === 'role.user_removed') && mentioned(changes).length === 0
}

function mentioned(changes: string): string[] {
  if (!changes.includes('"user"')) return []
  const { user } = JSON.parse(changes) as { user?: { old?: unknown; new?: unknown } }
  return [user?.old, user?.new].filter((id) => typeof id === 'string')
}
