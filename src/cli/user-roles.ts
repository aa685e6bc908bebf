import { Command } from 'commander'
import type { ListedRole } from '../users/index.ts'
import { printJson } from './print-json.ts'
import { printTable } from './print-table.ts'
import { withStorageFlags } from './settings-options.ts'
import { withIdentity } from './with-identity.ts'

const PAGE = 100

export function rolesCommand(): Command {
  return withStorageFlags(new Command('roles'))
    .description('list the roles that users can have, with their permissions')
    .option('--json', 'answer as JSON')
    .action(async (options: { json?: boolean }, command: Command) => {
      await withIdentity(command, async ({ principal, roles }) => {
        const all: ListedRole[] = []
        for (let number = 0; all.length === number * PAGE; number++) {
          const sort = { field: 'name', descending: false } as const
          const page = await roles.list(principal, { page: { size: PAGE, number }, sort })
          if (page.roles.length === 0) break
          all.push(...page.roles)
        }
        if (options.json) {
          printJson(all.map(toJson))
          return
        }
        printTable(
          ['NAME', 'USERS', 'PERMISSIONS', 'ID'],
          all.map((role) => [role.name, String(role.userCount), describePermissions(role), role.id]),
        )
      })
    })
}

function toJson(role: ListedRole) {
  const { id, name, userCount, receivesPermissionsFrom } = role
  return {
    id,
    name,
    managed: role.managed !== null,
    user_count: userCount,
    receives_permissions_from: receivesPermissionsFrom,
    permissions: role.permissions.map(({ name }) => name),
  }
}

function describePermissions({ permissions }: ListedRole): string {
  const names = permissions.map(({ name }) => name)
  return names.includes('admin') ? 'everything' : names.join(', ')
}
