import { emptyTree, type Layer, type Tree } from './merge-layers.ts'
import { nearest } from './nearest.ts'
import { asText } from './origins.ts'
import type { Problems } from './problems.ts'
import { type GroupSetting, type Setting, settingsIn } from './setting.ts'
import type { Problem } from './settings-error.ts'

const PREFIX = 'COMMONPLACE_'
export type Environment = Readonly<Record<string, string | undefined>>

/** What a variable sets; `isFile` when it names the file that holds the secret. */
export interface Variable {
  name: string
  path: readonly string[]
  setting: Setting
  isFile: boolean
}

/** `COMMONPLACE_CALLBACKS__REQUEST_TIMEOUT` for `callbacks.request_timeout`. */
function variableName(path: readonly string[]): string {
  return PREFIX + path.join('__').toUpperCase()
}

/** Every variable there is, by name: one per key, one per group (as JSON), and the short names. */
export function variablesOf(root: GroupSetting, shortNames: Readonly<Record<string, string>>): Map<string, Variable> {
  const variables = new Map<string, Variable>()
  function add(name: string, path: readonly string[], setting: Setting): void {
    variables.set(name, { name, path, setting, isFile: false })
    if (setting.secret === undefined) return
    const filePath = [...path.slice(0, -1), `${path.at(-1)}_file`]
    variables.set(`${name}_FILE`, { name: `${name}_FILE`, path: filePath, setting, isFile: true })
  }
  for (const { path, setting } of settingsIn(root)) {
    add(variableName(path), path, setting)
    const short = shortNames[path.join('.')]
    if (short !== undefined) add(PREFIX + short, path, setting)
  }
  return variables
}

/** One layer per variable, the general ones first, so that the more precise name wins. */
export function environmentLayers(variables: Map<string, Variable>, env: Environment, problems: Problems): Layer[] {
  const given: { variable: Variable; text: string }[] = []
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith(PREFIX) || isForOthers(name)) continue
    const variable = variables.get(name)
    if (variable) given.push({ variable, text })
    else problems.add(() => unknownVariable(name, variables))
  }
  reportContradictions(given, problems)
  given.sort((left, right) => left.variable.path.length - right.variable.path.length)
  return given.flatMap(({ variable, text }) => layerOf(variable, text, problems))
}

/** What a variable or flag says, as the settings file would say it; `undefined` for broken JSON. */
export function fromText(setting: Setting, text: string): { raw: unknown } | undefined {
  if (setting.kind === 'scalar') return { raw: setting.fromText(text) }
  if (setting.kind === 'nullable') return { raw: text === '' || text === 'null' ? null : setting.inner.fromText(text) }
  try {
    return { raw: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

/** A tree that holds nothing but `raw` at `path`. */
export function treeAt(path: readonly string[], raw: unknown): Tree {
  return path.reduceRight<unknown>((inner, step) => Object.assign(emptyTree(), { [step]: inner }), raw) as Tree
}

function layerOf({ name, path, setting, isFile }: Variable, text: string, problems: Problems): Layer[] {
  const read = isFile ? { raw: text } : fromText(setting, text)
  if (read) return [{ tree: treeAt(path, read.raw), origin: { source: 'environment', name, path } }]
  const message = `is not valid JSON, which lists and maps need in the environment (${name}).`
  problems.add(() => ({ path: path.join('.'), message, example: exampleOf(name, setting, false) }))
  return []
}

// The settings file's own variable is no setting, and tests have variables of their own.
function isForOthers(name: string): boolean {
  return name === `${PREFIX}CONFIG` || name.startsWith(`${PREFIX}TEST_`)
}

function unknownVariable(name: string, variables: Map<string, Variable>): Problem {
  const whole = [...variables.values()].find(
    (known) => name.startsWith(`${known.name}__`) && known.setting.kind !== 'group',
  )
  const meant = whole?.name ?? nearestName(name, variables)
  const shown = variables.get(meant ?? `${PREFIX}PORT`)
  return {
    path: name.slice(0, 100),
    message: `is not a setting's variable; ${hint(name, whole, meant)}`,
    example: shown ? exampleOf(shown.name, shown.setting, shown.isFile) : `${PREFIX}CONFIG=commonplace.yaml`,
  }
}

// Without the prefix, which would make everything look alike.
function nearestName(name: string, variables: Map<string, Variable>): string | undefined {
  const meant = nearest(
    name.slice(PREFIX.length),
    variables.keys().map((known) => known.slice(PREFIX.length)),
  )
  return meant === undefined ? undefined : PREFIX + meant
}

function exampleOf(name: string, setting: Setting, isFile: boolean): string {
  return `${name}=${isFile ? '/run/secrets/commonplace' : asText(setting.example)}`
}

function hint(name: string, whole: Variable | undefined, meant: string | undefined): string {
  if (/^COMMONPLACE_(SERVICE_|PORT_\d)/.test(name)) {
    return 'Kubernetes makes such variables for a service of that name: set `enableServiceLinks: false`.'
  }
  if (whole) return `the environment sets \`${whole.path.join('.')}\` as a whole.`
  return meant === undefined ? '`commonplace config --help` says where to find them all.' : `did you mean ${meant}?`
}

function reportContradictions(given: { variable: Variable; text: string }[], problems: Problems): void {
  const byPath = new Map<string, { variable: Variable; text: string }>()
  for (const entry of given) {
    const path = entry.variable.path.join('.')
    const other = byPath.get(path)
    byPath.set(path, entry)
    if (other === undefined || other.text === entry.text) continue
    const message = `is set differently by ${other.variable.name} and ${entry.variable.name}; keep one of them.`
    const { setting, isFile } = entry.variable
    problems.add(() => ({ path, message, example: exampleOf(other.variable.name, setting, isFile) }))
  }
  for (const { variable: file } of given) {
    if (!file.isFile) continue
    const value = byPath.get(file.path.join('.').slice(0, -'_file'.length))
    // An empty variable is null, which is no secret.
    if (value === undefined || fromText(value.variable.setting, value.text)?.raw === null) continue
    const { name, path, setting } = value.variable
    const message = `is set by ${name} and by ${file.name}; keep one of them.`
    problems.add(() => ({ path: path.join('.'), message, example: exampleOf(file.name, setting, true) }))
  }
}
