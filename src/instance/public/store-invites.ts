import type { Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'

const holders = statement<Record<never, never>, { role_id: string }>((query) =>
  query
    .selectFrom('role_permissions')
    .innerJoin('roles', 'roles.id', 'role_permissions.role_id')
    .innerJoin('permissions', 'permissions.id', 'role_permissions.permission_id')
    .select('role_permissions.role_id')
    .where('roles.managed', '=', 'read_only')
    .where('permissions.name', '=', 'user_access_invite')
    .limit(1),
)

/** Whether the lowest role, which every ordinary user has at least, may send invitations. */
export async function mayEverybodyInvite(reader: Reader): Promise<boolean> {
  return (await reader.run(holders, {})).length > 0
}
