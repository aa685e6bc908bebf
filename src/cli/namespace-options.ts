import { type Command, InvalidArgumentError, Option } from 'commander'
import { policyValueOf } from '../callbacks/index.ts'

type Pair = readonly [name: string, value: string]

/** What `namespace create` and `namespace update` can change. */
export interface ChangeOptions {
  description?: string
  set: Pair[]
  unset: string[]
  attribute: Pair[]
  removeAttribute: string[]
  json?: boolean
}

export function withChangeFlags(command: Command): Command {
  const set = 'differ from the settings, such as retry.max_interval=5m; JSON for lists'
  return command
    .option('--description <text>', 'what it is for')
    .addOption(repeated('--set <key=value>', set, pairOf))
    .addOption(repeated('--unset <key>', 'inherit it from the settings again', String))
    .addOption(repeated('--attribute <Name=Type>', 'add a search attribute, such as CustomerId=Keyword', pairOf))
    .addOption(repeated('--remove-attribute <Name>', 'remove a search attribute; values stay', String))
    .addHelpText(
      'after',
      '\nKeys are those of the section "callbacks" in docs/settings.md, but for signing_secrets: use "namespace add-secret" and' +
        '\n"namespace drop-secret". --set signing.secrets=[] signs no more, --unset signing.secrets inherits again.',
    )
}

/** The same as the body of a request. */
export function changeOf(options: ChangeOptions): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  if (options.description !== undefined) body.description = options.description
  for (const [key, value] of options.set) put(body, key.split('.'), policyValueOf(key, value))
  for (const key of options.unset) put(body, key.split('.'), null)
  const attributes = [...options.attribute, ...options.removeAttribute.map((name) => [name, null] as const)]
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
