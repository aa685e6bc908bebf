import { type Command, InvalidArgumentError, Option } from 'commander'
import { policyValueOf } from '../callbacks/index.ts'

type Pair = readonly [name: string, value: string]

/** What `namespace create` can say of a namespace. */
export interface NewOptions {
  description?: string
  set: Pair[]
  attribute: Pair[]
  json?: boolean
}

/** And `namespace update`. */
export interface ChangeOptions extends NewOptions {
  unset: string[]
  removeAttribute: string[]
}

const KEYS =
  '\nKeys are those of the section "callbacks" in docs/settings.md, but for signing_secrets: use "namespace add-secret" and' +
  '\n"namespace drop-secret". --set signing.secrets=[] signs nothing'

export function withNewFlags(command: Command): Command {
  return withFlags(command).addHelpText('after', `${KEYS}.`)
}

export function withChangeFlags(command: Command): Command {
  return withFlags(command)
    .addOption(repeated('--unset <key>', 'inherit it from the settings again', String))
    .addOption(repeated('--remove-attribute <Name>', 'remove a search attribute; values stay', String))
    .addHelpText('after', `${KEYS}, --unset signing.secrets inherits again.`)
}

function withFlags(command: Command): Command {
  const set = 'differ from the settings, such as retry.max_interval=5m; JSON for lists'
  return command
    .option('--description <text>', 'what it is for')
    .addOption(repeated('--set <key=value>', set, pairOf))
    .addOption(repeated('--attribute <Name=Type>', 'add a search attribute, such as CustomerId=Keyword', pairOf))
}

/** The same as the body of a request. */
export function changeOf(options: NewOptions & Partial<ChangeOptions>): Record<string, unknown> {
  const { unset = [], removeAttribute = [] } = options
  const body: Record<string, unknown> = {}
  if (options.description !== undefined) body.description = options.description
  for (const [key, value] of options.set) put(body, key.split('.'), policyValueOf(key, value))
  for (const key of unset) put(body, key.split('.'), null)
  const attributes = [...options.attribute, ...removeAttribute.map((name) => [name, null] as const)]
  if (attributes.length > 0) body.search_attributes = Object.fromEntries(attributes)
  return body
}

function repeated<T>(flags: string, description: string, parse: (text: string) => T): Option {
  return new Option(flags, `${description} (may be repeated)`)
    .argParser((text: string, previous: T[]) => [...previous, parse(text)])
    .default([], 'none')
}

function pairOf(text: string): Pair {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new InvalidArgumentError('Give a name, "=" and a value.')
}

function put(tree: Record<string, unknown>, [key = '', ...path]: string[], value: unknown): void {
  if (path.length === 0)
    Object.defineProperty(tree, key, { value, enumerable: true, configurable: true, writable: true })
  else {
    const inner = Object.hasOwn(tree, key) ? tree[key] : undefined
    const next = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {}
    put(next, path, value)
    put(tree, [key], next)
  }
}
