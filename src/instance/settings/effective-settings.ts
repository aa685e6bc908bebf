import { emptyTree, mergeLayer, type Tree } from '../../platform/config/merge-layers.ts'
import { type Origin, Origins } from '../../platform/config/origins.ts'
import { Problems, showPath } from '../../platform/config/problems.ts'
import { SettingsReader } from '../../platform/config/read-settings.ts'
import { isRecord } from '../../platform/config/setting.ts'
import { type Problem, SettingsError } from '../../platform/config/settings-error.ts'
import type { InstanceSettings } from '../settings.ts'
import { SETTINGS_ROOT } from './setting-keys.ts'
import type { StoredValues } from './settings-patch.ts'

// Without a source of its own: who gave a stored value is written in the audit log.
const STORED: Origin = { source: 'default', name: 'stored value', path: [] }

export type Effective = { settings: InstanceSettings } | { problems: readonly Problem[] }

/** The stored values over those of file, environment and defaults, judged by the rules of the settings file. */
export function layOver(base: InstanceSettings, stored: StoredValues): Effective {
  const [origins, problems] = [new Origins(), new Problems()]
  const tree = copyOf(base) as Tree
  mergeLayer(SETTINGS_ROOT, tree, { tree: treeOf(stored), origin: STORED }, { origins, problems })
  const reader = new SettingsReader({ mode: 'serve', cwd: '/' }, origins, problems)
  const settings = reader.read(SETTINGS_ROOT, tree, []) as InstanceSettings
  try {
    problems.throwIfAny()
  } catch (error) {
    if (error instanceof SettingsError) return { problems: error.problems }
    throw error
  }
  return { settings }
}

export interface Usable {
  usable: StoredValues
  /** Keys of those that are not, or of members of one that are not. */
  left: readonly string[]
  /** With those values over the others. */
  settings: InstanceSettings
}

/** The stored values that are good, and what they make. An older or newer version may have kept others. */
export function layUsableOver(base: InstanceSettings, stored: StoredValues): Usable {
  const left = new Set<string>()
  let usable = stored
  // Without one value another may become wrong; each round drops at least one.
  for (;;) {
    const effective = layOver(base, usable)
    if ('settings' in effective) return { usable, left: [...left], settings: effective.settings }
    const paths = effective.problems.map(({ path }) => path)
    const bad = badOf(usable, paths)
    if (bad.length === 0) return { usable: new Map(), left: [...stored.keys()], settings: base }
    for (const name of bad) left.add(name)
    usable = withoutAny(usable, new Set(bad))
  }
}

function badOf(stored: StoredValues, paths: readonly string[]): string[] {
  const keys = [...stored.keys()]
  const named = keys.flatMap((key) => badPartsOf(key, stored.get(key), paths))
  if (named.length > 0) return named
  // What does not fit together is reported at one of the two, which may be the one of the file.
  return keys.filter((key) => paths.some((path) => groupOf(path) === groupOf(key)))
}

/** Of a map the members that are wrong, when it is not wrong itself: the others mean what they did. */
function badPartsOf(key: string, value: unknown, paths: readonly string[]): string[] {
  const about = paths.filter((path) => isAbout(path, key))
  if (about.length === 0) return []
  const members = isRecord(value) ? Object.keys(value).map((member) => pathOf(key, member)) : []
  const bad = members.filter((member) => about.includes(member))
  return about.every((path) => bad.includes(path)) ? bad : [key]
}

function withoutAny(stored: StoredValues, bad: ReadonlySet<string>): StoredValues {
  const kept = new Map<string, unknown>()
  for (const [key, value] of stored) {
    if (bad.has(key)) continue
    const members = isRecord(value) ? Object.entries(value) : []
    const good = members.filter(([member]) => !bad.has(pathOf(key, member)))
    kept.set(key, good.length < members.length ? Object.fromEntries(good) : value)
  }
  return kept
}

function pathOf(key: string, member: string): string {
  return showPath([...key.split('.'), member])
}

function isAbout(path: string, key: string): boolean {
  return path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`)
}

function groupOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('.')))
}

function treeOf(stored: StoredValues): Tree {
  const tree = emptyTree()
  for (const [key, value] of stored) {
    const steps = key.split('.')
    const last = steps.pop() as string
    let group = tree
    for (const step of steps) {
      group[step] ??= emptyTree()
      group = group[step] as Tree
    }
    group[last] = value
  }
  return tree
}

/** Settings are frozen; what is laid over them is not. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf)
  if (!isRecord(value)) return value
  return Object.assign(
    emptyTree(),
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)])),
  )
}
