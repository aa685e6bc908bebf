/** What user documents show beside the rows of the users, for a whole page at once. */
import { sql } from 'kysely'
import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { UserId } from '../../platform/auth/principal.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { textsIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'

const memberships = statement<{ ids: string }, { user_id: UserId; role_id: RoleId }>(
  (_query, p, engine) => sql`select user_id, role_id from user_roles where user_id in ${textsIn(engine, p('ids'))}`,
)

export async function roleIdsOfUsers(reader: Reader, userIds: readonly UserId[]): Promise<Map<UserId, RoleId[]>> {
  const roles = new Map<UserId, RoleId[]>(userIds.map((id) => [id, []]))
  if (userIds.length === 0) return roles
  const rows = await reader.run(memberships, { ids: JSON.stringify(userIds) })
  for (const row of rows) roles.get(row.user_id)?.push(row.role_id)
  return roles
}

const secondFactors = statement<{ ids: string }, { user_id: UserId }>(
  (_query, p, engine) => sql`
    select user_id from user_totp where user_id in ${textsIn(engine, p('ids'))} and confirmed_at is not null`,
)

/** Those of the users who have a confirmed second factor. */
export async function usersWithMfa(reader: Reader, userIds: readonly UserId[]): Promise<Set<UserId>> {
  if (userIds.length === 0) return new Set()
  const rows = await reader.run(secondFactors, { ids: JSON.stringify(userIds) })
  return new Set(rows.map((row) => row.user_id))
}
