import type { TSchema } from 'typebox'

/** `cli` is every command that does not listen: it reads settings as `serve` does. */
export type Mode = 'dev' | 'serve' | 'cli'

/** What a reader may need to know about where it runs. Relative paths count from `cwd`. */
export interface ReadContext {
  mode: Mode
  cwd: string
}

/** `undefined` says that the raw value is not what the setting wants. */
export type Reading = { value: unknown } | undefined

/** What masking hides: everything, or what is secret inside an address. */
export type Secrecy = 'all' | 'url'

interface Described {
  description: string
  /** In the form an operator writes, so that it can be shown and pasted. */
  example: unknown
  /** Absent: the key must be given wherever its group is. */
  default?: unknown
  byMode?: Partial<Record<Mode, unknown>>
  secret?: Secrecy
  /** May be left out, and is then absent from the result. */
  optional?: boolean
}

export interface ScalarSetting extends Described {
  kind: 'scalar'
  /** Completes "must be …". */
  what: string
  read(raw: unknown, context: ReadContext): Reading
  /** From an environment variable or a flag; text that does not fit comes back as it is. */
  fromText(text: string): unknown
  /** The inverse of `read`: what an operator would write for this value. */
  toRaw(value: unknown): unknown
}

export interface NullableSetting extends Described {
  kind: 'nullable'
  inner: ScalarSetting
}

export interface ListSetting extends Described {
  kind: 'list'
  item: Setting
  minItems: number
  maxItems: number
  eachOnce: boolean
}

export interface MapSetting extends Described {
  kind: 'map'
  entry: Setting
  /** Completes "a key must be …". */
  keyWhat: string
  keys: RegExp
  /** What is wrong with a key of that form, if anything. */
  keyProblem: (key: string) => string | undefined
}

export interface GroupSetting extends Described {
  kind: 'group'
  members: Readonly<Record<string, Setting>>
  checks: readonly GroupCheck[]
}

export type Setting = ScalarSetting | NullableSetting | ListSetting | MapSetting | GroupSetting

/**
 * Reports what is wrong between the members of a group; `path` starts at the group. `fitting` is a value that would be right there,
 * where the usual example might be as wrong.
 */
export type Report = (path: string[], message: string, fitting?: unknown) => void
export type GroupCheck = (value: unknown, report: Report, context: ReadContext) => void

/** How a schema is read, beside what it means as JSON Schema: builders in keys.ts put it there. */
export function settingOf(schema: TSchema): Setting {
  return (schema as unknown as { setting: Setting }).setting
}

export function defaultOf(setting: Setting, mode: Mode): unknown {
  return setting.byMode && mode in setting.byMode ? setting.byMode[mode] : setting.default
}

export function memberOf(group: GroupSetting, key: string): Setting | undefined {
  return Object.hasOwn(group.members, key) ? group.members[key] : undefined
}

/** The secret member that `<key>_file` stands for. */
export function secretBehind(group: GroupSetting, fileKey: string): string | undefined {
  const key = fileKey.endsWith('_file') ? fileKey.slice(0, -'_file'.length) : ''
  return memberOf(group, key)?.secret === undefined || memberOf(group, fileKey) ? undefined : key
}

/** Every group and key below `group`, groups before what they hold; lists and maps count as one key. */
export function* settingsIn(
  group: GroupSetting,
  above: readonly string[] = [],
): Generator<{ path: readonly string[]; setting: Setting }> {
  for (const [key, setting] of Object.entries(group.members)) {
    const path = [...above, key]
    yield { path, setting }
    if (setting.kind === 'group') yield* settingsIn(setting, path)
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
