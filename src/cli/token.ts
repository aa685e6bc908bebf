import { Command, InvalidArgumentError, Option } from 'commander'
import { MICROS_PER_MS, toRfc3339, toRfc3339OrNull } from '../platform/clock/clock.ts'
import { parseDuration } from '../platform/config/duration.ts'
import { type AccessToken, type ApiKey, type ApplicationKey, resolveUser } from '../users/index.ts'
import { printJson } from './print-json.ts'
import { printTable } from './print-table.ts'
import { withStorageFlags } from './settings-options.ts'
import { collect } from './user.ts'
import { withIdentity } from './with-identity.ts'

const DAY_MS = 86_400_000

export function tokenCommand(): Command {
  return new Command('token')
    .description('create, list and revoke bearer tokens and key pairs')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
}

interface CreateOptions {
  user: string
  name: string
  kind: 'token' | 'key-pair'
  expires: number
  scope?: string[]
  json?: boolean
}

function createCommand(): Command {
  return withStorageFlags(new Command('create'))
    .description('make a token or key pair for a user and print it, this once')
    .requiredOption('--user <user>', 'id or email address of the owner')
    .option('--name <name>', 'what it is for', 'command line')
    .addOption(new Option('--kind <kind>', 'what to make').choices(['token', 'key-pair']).default('token'))
    .addOption(
      new Option('--expires <duration>', 'life of a token, such as 12h or 90d; at most 365d (key pairs do not expire)')
        .argParser(parseLife)
        .default(90 * DAY_MS, '90d'),
    )
    .option('--scope <permission>', 'allow only this permission (may be repeated)', collect)
    .option('--json', 'answer as JSON')
    .action(async (options: CreateOptions, command: Command) => {
      if (options.kind === 'key-pair' && command.getOptionValueSource('expires') !== 'default') {
        command.error('error: a key pair does not expire: leave --expires out', { exitCode: 2 })
      }
      await withIdentity(command, async ({ db, clock, principal, credentials }) => {
        const owner = await resolveUser(db, principal, options.user)
        const key = { userId: owner.id, name: options.name, scopes: options.scope ?? null }
        const noteStatus = () => {
          if (owner.status !== 'Active')
            process.stderr.write(`note: the owner is ${owner.status}; it works once that is Active\n`)
        }
        if (options.kind === 'key-pair') {
          const { apiKey, applicationKey } = await credentials.createKeyPair(principal, key)
          noteStatus()
          if (options.json) {
            const answer = { api_key: apiKey.plain, api_key_id: apiKey.id }
            return printJson({
              ...answer,
              application_key: applicationKey.plain,
              application_key_id: applicationKey.id,
            })
          }
          return console.log(`api key          ${apiKey.plain}\napplication key  ${applicationKey.plain}`)
        }
        const expiresAt = clock.now() + options.expires * MICROS_PER_MS
        const token = await credentials.createToken(principal, { ...key, expiresAt })
        noteStatus()
        if (options.json) return printJson({ id: token.id, token: token.plain, expires_at: toRfc3339(expiresAt) })
        console.log(token.plain)
      })
    })
}

function listCommand(): Command {
  return withStorageFlags(new Command('list'))
    .description('list tokens and keys; their secrets are not kept')
    .option('--user <user>', 'only those of this user (id or email address)')
    .option('--json', 'answer as JSON')
    .action(async (options: { user?: string; json?: boolean }, command: Command) => {
      await withIdentity(command, async ({ db, principal, credentials }) => {
        const userId = options.user === undefined ? null : (await resolveUser(db, principal, options.user)).id
        const { tokens, applicationKeys, apiKeys } = await credentials.list(principal, { userId })
        const all = [
          ...tokens.map((token) => describe('token', token)),
          ...applicationKeys.map((key) => describe('application key', key)),
          // An API key belongs to the organization, not to a user.
          ...(userId === null ? apiKeys.map((key) => describe('api key', key)) : []),
        ]
        if (options.json) return printJson(all)
        printTable(
          ['KIND', 'NAME', 'ENDS WITH', 'EXPIRES', 'LAST USED', 'ID'],
          all.map((one) => [one.kind, one.name, one.last4, one.expires_at ?? 'never', one.last_used_at ?? '-', one.id]),
        )
      })
    })
}

function revokeCommand(): Command {
  return withStorageFlags(new Command('revoke'))
    .description('revoke a token, an application key or an API key')
    .argument('<id>', 'its id, as "token list" shows it')
    .option('--json', 'answer as JSON')
    .action(async (id: string, options: { json?: boolean }, command: Command) => {
      await withIdentity(command, async ({ principal, credentials }) => {
        await credentials.revoke(principal, { id: id.trim().toLowerCase() })
        if (options.json) return printJson({ id, revoked: true })
        console.log(`revoked ${id}`)
      })
    })
}

function parseLife(text: string): number {
  const life = parseDuration(text)
  if (life === undefined || life <= 0 || life > 365 * DAY_MS) {
    throw new InvalidArgumentError('Give a duration of at most a year, such as 12h or 90d.')
  }
  return life
}

function describe(kind: string, credential: AccessToken | ApplicationKey | ApiKey) {
  return {
    kind,
    id: credential.id,
    name: credential.name,
    last4: credential.last4,
    user_id: 'userId' in credential ? credential.userId : null,
    scopes: 'scopes' in credential ? credential.scopes : null,
    created_at: toRfc3339(credential.createdAt),
    expires_at: 'expiresAt' in credential ? toRfc3339OrNull(credential.expiresAt) : null,
    last_used_at: 'lastUsedAt' in credential ? toRfc3339OrNull(credential.lastUsedAt) : null,
  }
}
