/** A policy as callers see it: names in lowerCamelCase, durations as messages have them (`"10s"`, `"0.500s"`), without secrets. */
import { MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { formatDuration } from '../../platform/config/duration.ts'
import { type GroupSetting, isRecord, memberOf, type Setting, settingsIn } from '../../platform/config/setting.ts'
import { type CallbackPolicy, POLICY, type PolicyOverrides } from '../settings.ts'
import { durationJson, durationOf } from '../wire/duration.ts'

const { signing_secrets: _secrets, ...shownMembers } = POLICY.members

/** The keys of a policy that are shown and can be set by name. */
export const SHOWN_POLICY: GroupSetting = { ...POLICY, members: shownMembers }

export function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function policyToJson(policy: CallbackPolicy): Record<string, unknown> {
  return toJson(SHOWN_POLICY, policy) as Record<string, unknown>
}

function toJson(setting: Setting, value: unknown): unknown {
  switch (setting.kind) {
    case 'scalar':
      return isDuration(setting, value) ? durationJson(durationOf(value * MICROS_PER_MS)) : value
    case 'nullable':
      return value === null ? null : toJson(setting.inner, value)
    case 'list':
      return (value as unknown[]).map((item) => toJson(setting.item, item))
    case 'map':
      return value
    case 'group': {
      const given = value as Record<string, unknown>
      const members = Object.entries(setting.members).filter(([key]) => given[key] !== undefined)
      return Object.fromEntries(members.map(([key, member]) => [camelCase(key), toJson(member, given[key])]))
    }
  }
}

/** What somebody typed for a key such as `retry.max_interval` or `retry.maxInterval`, as an environment variable would be read. */
export function policyValueOf(key: string, text: string): unknown {
  const setting = key.split('.').reduce<Setting | undefined>((above, step) => {
    if (above?.kind !== 'group') return undefined
    return Object.entries(above.members).find(([name]) => name === step || camelCase(name) === step)?.[1]
  }, SHOWN_POLICY)
  const scalar = setting?.kind === 'nullable' ? setting.inner : setting
  const json = jsonOf(text)
  // A number may be meant for a duration: `0`.
  if (scalar?.kind === 'scalar' && (json === undefined || typeof json === 'number')) return scalar.fromText(text)
  return json === undefined ? text : json
}

/** Undefined where it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Every key that is overridden, as `retry.max_interval`, with its value as a settings file has it. */
export function overriddenKeys(overrides: PolicyOverrides): Map<string, string> {
  const keys = new Map<string, string>()
  for (const { path, setting } of settingsIn(SHOWN_POLICY)) {
    const value = valueAt(overrides, path)
    if (setting.kind !== 'group' && value !== undefined) keys.set(path.join('.'), written(setting, value))
  }
  return keys
}

function written(setting: Setting, value: unknown): string {
  return isDuration(setting, value) ? formatDuration(value) : JSON.stringify(value)
}

/** Settings keep milliseconds, and show how they are written. */
function isDuration(setting: Setting, value: unknown): value is number {
  return typeof value === 'number' && typeof setting.example === 'string'
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, step) => (isRecord(inner) ? inner[step] : undefined), tree)
}

/** What a caller wants of a policy. */
export interface PolicyWish {
  /** As the settings file would say it, in snake_case. */
  set: Record<string, unknown>
  /** Keys and groups to be inherited again. */
  unset: string[]
}

/** From JSON that fits the schema. Null takes an override back, except where null is a value by itself. */
export function policyWishOf(json: Record<string, unknown>): PolicyWish {
  const unset: string[] = []
  const set = wishOf(SHOWN_POLICY, json, [], unset)
  return { set, unset }
}

function wishOf(
  group: GroupSetting,
  json: Record<string, unknown>,
  above: readonly string[],
  unset: string[],
): Record<string, unknown> {
  const set: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(group.members)) {
    const value = json[camelCase(key)]
    if (value === undefined) continue
    if (value === null && member.kind !== 'nullable') unset.push([...above, key].join('.'))
    else if (member.kind === 'group')
      set[key] = wishOf(member, value as Record<string, unknown>, [...above, key], unset)
    else set[key] = toSnakeCase(member, value)
  }
  return set
}

/** Inside lists nothing can be inherited, and null stays what it is. */
function toSnakeCase(setting: Setting, value: unknown): unknown {
  if (setting.kind === 'list') return (value as unknown[]).map((item) => toSnakeCase(setting.item, item))
  if (setting.kind !== 'group') return value
  const given = value as Record<string, unknown>
  const keys = Object.keys(setting.members).filter((key) => given[camelCase(key)] !== undefined)
  return Object.fromEntries(
    keys.map((key) => [key, toSnakeCase(memberOf(setting, key) as Setting, given[camelCase(key)])]),
  )
}
