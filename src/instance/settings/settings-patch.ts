/** JSON merge patch over the stored values: `null` drops a stored value, and an empty text clears. */
import { MASK } from '../../platform/config/mask-secrets.ts'
import { nearest } from '../../platform/config/nearest.ts'
import { type GroupSetting, isRecord, memberOf, type Setting, secretBehind } from '../../platform/config/setting.ts'
import { shortened } from '../../platform/text/shortened.ts'
import { type FieldProblem, MOST_PROBLEMS } from '../invalid.ts'
import { SETTING_KEYS, SETTINGS_ROOT } from './setting-keys.ts'

/** Values by key, as they were given; `null` says that a key has none, whatever the file says. */
export type StoredValues = ReadonlyMap<string, unknown>

export interface Patched {
  stored: StoredValues
  /** Keys that are given a value. */
  given: readonly string[]
  /** Keys that are to have none any more, also those whose stored value is of no use. */
  dropped: readonly string[]
  /** The first of them. */
  problems: readonly FieldProblem[]
}

export function patchSettings(stored: StoredValues, patch: unknown): Patched {
  const next = new Map(stored)
  const given: string[] = []
  const dropped: string[] = []
  const problems: FieldProblem[] = []
  patchGroup(SETTINGS_ROOT, patch, '')
  return { stored: next, given, dropped, problems }

  function patchGroup(group: GroupSetting, patched: unknown, path: string): void {
    if (!isRecord(patched)) return void problems.push(notAnObject(path))
    for (const key of Object.keys(patched)) {
      if (problems.length >= MOST_PROBLEMS) return
      const [member, value] = [memberOf(group, key), patched[key]]
      const at = path === '' ? key : `${path}.${key}`
      if (member === undefined) problems.push(unknownKey(group, at, key))
      else if (value === null) drop(at)
      else if (member.kind === 'group') patchGroup(member, value, at)
      else if (member.kind === 'map') patchMap(value, at)
      else patchValue(member, value, at)
    }
  }

  function patchMap(patched: unknown, key: string): void {
    if (!isRecord(patched)) return void problems.push(notAnObject(key))
    // No map knows as many keys: each of the others would be judged for a problem of its own.
    if (Object.keys(patched).length > MOST_PROBLEMS) return void problems.push(tooMany(key))
    const below = next.get(key)
    const entries = Object.entries({ ...(isRecord(below) ? below : {}), ...patched }).filter(([, one]) => one !== null)
    if (entries.length === 0) drop(key)
    else give(key, Object.fromEntries(entries))
  }

  function patchValue(member: Setting, value: unknown, key: string): void {
    // Whoever sends back what was shown means the secret that is there.
    if (member.secret !== undefined && value === MASK) return
    give(key, member.kind === 'nullable' && value === '' ? null : value)
  }

  function give(key: string, value: unknown): void {
    next.set(key, value)
    given.push(key)
  }

  function drop(key: string): void {
    const all = [...SETTING_KEYS.keys()].filter((known) => known === key || known.startsWith(`${key}.`))
    for (const known of all) next.delete(known)
    dropped.push(...all)
  }
}

function notAnObject(field: string): FieldProblem {
  return { field, text: field === '' ? 'The request body must be an object' : 'must be an object', code: 'ERR_TYPE' }
}

function tooMany(field: string): FieldProblem {
  return { field, text: `must have at most ${MOST_PROBLEMS} members`, code: 'ERR_TOO_LONG' }
}

const LONGEST_SHOWN = 100

function unknownKey(group: GroupSetting, at: string, key: string): FieldProblem {
  const field = shortened(at, LONGEST_SHOWN)
  if (secretBehind(group, key) !== undefined) {
    return { field, text: 'can be set in the settings file only', code: 'ERR_UNKNOWN' }
  }
  const meant = nearest(key, Object.keys(group.members))
  return { field, text: `is not a setting${meant ? `; did you mean ${meant}?` : ''}`, code: 'ERR_UNKNOWN' }
}
