import { Command, Option } from 'commander'
import { toRfc3339, toRfc3339OrNull } from '../platform/clock/clock.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { type ListedUser, resolveRole, resolveUser, type User } from '../users/index.ts'
import { printJson } from './print-json.ts'
import { printTable } from './print-table.ts'
import { promptSecret, readSecretFromPipe } from './read-secret.ts'
import { withStorageFlags } from './settings-options.ts'
import { anonymizeCommand } from './user-anonymize.ts'
import { removeTotpCommand } from './user-remove-totp.ts'
import { rolesCommand } from './user-roles.ts'
import { type IdentityContext, withIdentity } from './with-identity.ts'

const PAGE = 500
const USER = 'id or email address of the user'

export function userCommand(): Command {
  return new Command('user')
    .description('create, list, disable, enable and anonymize users, set their passwords and roles')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(disableCommand())
    .addCommand(enableCommand())
    .addCommand(anonymizeCommand())
    .addCommand(setPasswordCommand())
    .addCommand(removeTotpCommand())
    .addCommand(roleCommand('add-role', 'give the user a role'))
    .addCommand(roleCommand('remove-role', 'take a role from the user'))
    .addCommand(rolesCommand())
}

function createCommand(): Command {
  return withStorageFlags(new Command('create'))
    .description('create a user: Pending until an invitation is accepted, or usable at once with --active')
    .argument('<email>', 'email address')
    .option('--name <name>', 'name to show')
    .option('--title <title>', 'what the person does')
    .option('--role <role>', 'id or name of a role, or admin, standard, read_only (may be repeated)', collect)
    .option('--service-account', 'a program instead of a person: Active at once, it has keys and no password')
    .option('--active', 'you vouch for the address: the user is Active and verified at once')
    .option('--json', 'answer as JSON')
    .action(async (email: string, options: CreateOptions, command: Command) => {
      await withIdentity(command, async ({ db, principal, users, serviceAccounts }) => {
        const byId = new Map<string, ListedUser['roles'][number]>()
        for (const text of options.role ?? []) {
          const role = await resolveRole(db, principal, text)
          byId.set(role.id, role)
        }
        const roles = [...byId.values()]
        const { name, title } = options
        const input = { email, name, title, roleIds: roles.map((role) => role.id) }
        const user = options.serviceAccount
          ? await serviceAccounts.create(principal, input)
          : await users.create(principal, { ...input, vouchedFor: options.active })
        if (options.json) return printJson(toJson({ ...user, roles }))
        console.log(`created ${user.email} (${user.id}), ${user.status}`)
      })
    })
}

function listCommand(): Command {
  return withStorageFlags(new Command('list'))
    .description('list users by email address')
    .addOption(new Option('--status <status>', 'only these').choices(['Active', 'Pending', 'Disabled']))
    .option('--json', 'answer as JSON')
    .action(async (options: { status?: User['status']; json?: boolean }, command: Command) => {
      await withIdentity(command, async (context) => {
        const users: ListedUser[] = []
        for await (const user of allUsers(context, options.status)) users.push(user)
        if (options.json) return printJson(users.map(toJson))
        printTable(
          ['EMAIL', 'STATUS', 'ROLES', 'ID'],
          users.map((user) => [user.email, user.status, user.roles.map((role) => role.name).join(', '), user.id]),
        )
      })
    })
}

function disableCommand(): Command {
  return withStorageFlags(new Command('disable'))
    .description('disable a user: sessions and tokens end, application keys stop working until it is enabled')
    .argument('<user>', USER)
    .option('--json', 'answer as JSON')
    .action(async (text: string, options: { json?: boolean }, command: Command) => {
      await withIdentity(command, async ({ db, principal, users }) => {
        const user = await resolveUser(db, principal, text)
        const changed = await users.disable(principal, { userId: user.id })
        if (options.json) return printJson({ id: user.id, status: 'Disabled', changed })
        console.log(changed ? `disabled ${user.email}` : `${user.email} was disabled already`)
      })
    })
}

function enableCommand(): Command {
  return withStorageFlags(new Command('enable'))
    .description('enable a disabled user again; sessions and tokens do not come back')
    .argument('<user>', USER)
    .option('--verified', 'you vouch for the address: it counts as verified, and a Pending user becomes Active')
    .option('--json', 'answer as JSON')
    .action(async (text: string, options: { verified?: boolean; json?: boolean }, command: Command) => {
      await withIdentity(command, async ({ db, principal, users }) => {
        const { id } = await resolveUser(db, principal, text)
        const user = await users.enable(principal, { userId: id, vouchedFor: options.verified })
        if (options.json) return printJson({ id, status: user.status, changed: user.changed })
        const vouched = options.verified ? ' and verified' : ''
        console.log(`${user.email} ${user.changed ? 'is now' : 'was already'} ${user.status}${vouched}`)
      })
    })
}

function setPasswordCommand(): Command {
  return withStorageFlags(new Command('set-password'))
    .description('set the password of a user, asked for on the terminal; sessions of the user end')
    .argument('<user>', USER)
    .option('--password-stdin', 'read the password from standard input')
    .option('--json', 'answer as JSON')
    .action(async (text: string, options: { passwordStdin?: boolean; json?: boolean }, command: Command) => {
      if (!options.passwordStdin && !process.stdin.isTTY) {
        command.error('error: there is no terminal to ask on: send the password to --password-stdin', { exitCode: 2 })
      }
      await withIdentity(command, async ({ db, principal, users }) => {
        const user = await resolveUser(db, principal, text)
        const password = options.passwordStdin ? await readSecretFromPipe() : await askTwice(user.email)
        await users.setPassword(principal, { userId: user.id, password })
        if (options.json) return printJson({ id: user.id, changed: true })
        console.log(`set the password of ${user.email}`)
        if (user.status !== 'Active') console.log(`note: the user is ${user.status} and cannot sign in yet`)
      })
    })
}

function roleCommand(name: 'add-role' | 'remove-role', description: string): Command {
  return withStorageFlags(new Command(name))
    .description(description)
    .argument('<user>', USER)
    .argument('<role>', 'id or name of the role, or admin, standard, read_only')
    .option('--json', 'answer as JSON')
    .action(async (userText: string, roleText: string, options: { json?: boolean }, command: Command) => {
      await withIdentity(command, async ({ db, principal, users }) => {
        const user = await resolveUser(db, principal, userText)
        const role = await resolveRole(db, principal, roleText)
        const input = { userId: user.id, roleId: role.id }
        const changed = await (name === 'add-role'
          ? users.addRole(principal, input)
          : users.removeRole(principal, input))
        if (options.json) return printJson({ id: user.id, role: role.id, changed })
        console.log(`${user.email} ${name === 'add-role' ? 'has' : 'does not have'} the role ${role.name}`)
      })
    })
}

interface CreateOptions {
  name?: string
  title?: string
  role?: string[]
  serviceAccount?: boolean
  active?: boolean
  json?: boolean
}

export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value]
}

async function* allUsers({ principal, users }: IdentityContext, status?: User['status']): AsyncGenerator<ListedUser> {
  let after: ListedUser | undefined
  do {
    const page: ListedUser[] = await users.list(principal, { limit: PAGE, after, status })
    yield* page
    after = page.length === PAGE ? page.at(-1) : undefined
  } while (after !== undefined)
}

async function askTwice(email: string): Promise<string> {
  const password = await promptSecret(`New password for ${email}: `)
  if ((await promptSecret('Once more: ')) !== password) {
    throw new AppError('invalid_argument', 'The two passwords are different; nothing was changed')
  }
  return password
}

function toJson(user: ListedUser) {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    title: user.title,
    status: user.status,
    verified: user.verified,
    service_account: user.serviceAccount,
    roles: user.roles.map(({ id, name }) => ({ id, name })),
    created_at: toRfc3339(user.createdAt),
    last_login_time: toRfc3339OrNull(user.lastLoginAt),
  }
}
