import { resolve } from 'node:path'
import { mapValues } from './map-values.ts'
import { emptyTree } from './merge-layers.ts'
import { nearest } from './nearest.ts'
import { asText, exampleAt, type Origins, type Path, placeIn } from './origins.ts'
import { type Problems, show, showPath } from './problems.ts'
import { readTextFile } from './read-text-file.ts'
import {
  defaultOf,
  type GroupSetting,
  isRecord,
  type ListSetting,
  type MapSetting,
  memberOf,
  type ReadContext,
  type Report,
  type ScalarSetting,
  type Setting,
  secretBehind,
  settingsIn,
} from './setting.ts'

/** Stands for a value whose problem has been reported. */
export const INVALID = Symbol('invalid')

/** Turns raw values into what the program gets, and reports everything that is wrong on the way. */
export class SettingsReader {
  readonly #context: ReadContext
  readonly #origins: Origins
  readonly #problems: Problems
  /** The file that the value now being read was in, when it is a secret with a file of its own. */
  #secretFile: string | null = null

  constructor(context: ReadContext, origins: Origins, problems: Problems) {
    this.#context = context
    this.#origins = origins
    this.#problems = problems
  }

  read(setting: Setting, raw: unknown, path: Path): unknown {
    switch (setting.kind) {
      case 'scalar':
        return this.#readScalar(setting, raw, path)
      case 'nullable':
        return raw === null ? null : this.#readScalar(setting.inner, raw, path, ' or null')
      case 'list':
        return this.#readList(setting, raw, path)
      case 'map':
        return this.#readMap(setting, raw, path)
      case 'group':
        return this.#readGroup(setting, raw, path)
    }
  }

  #readScalar(setting: ScalarSetting, raw: unknown, path: Path, orNull = ''): unknown {
    const reading = setting.read(raw, this.#context)
    if (reading) return reading.value
    return this.#report(path, setting, `must be ${setting.what}${orNull}${givenInstead(setting, raw)}`)
  }

  #readList(setting: ListSetting, raw: unknown, path: Path): unknown {
    if (!Array.isArray(raw)) return this.#report(path, setting, `must be a list${givenInstead(setting, raw)}`)
    if (raw.length < setting.minItems || raw.length > setting.maxItems) {
      const bounds = `${setting.minItems} to ${setting.maxItems}`
      return this.#report(path, setting, `must have ${bounds} items, not ${raw.length}`)
    }
    const items = raw.map((item, index) => this.read(setting.item, item, [...path, index]))
    if (items.includes(INVALID)) return INVALID
    return setting.eachOnce ? [...new Set(items)] : items
  }

  #readMap(setting: MapSetting, raw: unknown, path: Path): unknown {
    if (!isRecord(raw)) return this.#report(path, setting, `must be a map, not ${show(raw)}`)
    const entries = Object.entries(raw).map(
      ([key, value]) => [key, this.#readEntry(setting, key, value, path)] as const,
    )
    if (entries.some(([, value]) => value === INVALID)) return INVALID
    const result = emptyTree()
    for (const [key, value] of entries) result[key] = value
    return result
  }

  #readEntry(setting: MapSetting, key: string, value: unknown, path: Path): unknown {
    if (!setting.keys.test(key)) {
      return this.#report(path, setting, `must have keys that are ${setting.keyWhat}, not ${show(key)}`)
    }
    const problem = setting.keyProblem(key)
    // With another key as the example: no value would make this one right.
    if (problem !== undefined) return this.#report([...path, key], setting, problem, path)
    return this.read(setting.entry, value, [...path, key])
  }

  #readGroup(setting: GroupSetting, raw: unknown, path: Path): unknown {
    if (!isRecord(raw)) return this.#report(path, setting, `must be a map of its keys, not ${show(raw)}`)
    const unknown = Object.keys(raw).filter(
      (key) => !memberOf(setting, key) && secretBehind(setting, key) === undefined,
    )
    for (const key of unknown) this.#reportUnknown(setting, path, key)
    const result: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(setting.members)) {
      const value = this.#readMember(key, member, raw, path)
      if (value !== undefined) result[key] = value
    }
    this.#check(setting, result, path)
    return unknown.length > 0 || Object.values(result).includes(INVALID) ? INVALID : result
  }

  #check(setting: GroupSetting, result: Record<string, unknown>, path: Path): void {
    const guarded = new Proxy(result, { get: (target, key) => validMember(target, String(key)) })
    for (const check of setting.checks) {
      try {
        check(guarded, (...found) => this.#reportCheck(setting, path, ...found), this.#context)
      } catch (reason) {
        if (reason !== INVALID) throw reason
      }
    }
  }

  #readMember(key: string, member: Setting, group: Record<string, unknown>, path: Path): unknown {
    const at = [...path, key]
    const file = member.secret === undefined ? null : (ownValue(group, `${key}_file`) ?? null)
    const given = ownValue(group, key)
    if (file !== null) {
      if (given === undefined || given === null) return this.#readSecretFile(member, file, path, key)
      return this.#report(at, member, `and \`${key}_file\` are both given; keep one of them`)
    }
    if (given !== undefined) return this.read(member, given, at)
    if (member.optional) return undefined
    const fallback = member.kind === 'group' ? {} : defaultOf(member, this.#context.mode)
    return fallback === undefined ? this.#report(at, member, 'is missing') : this.read(member, fallback, at)
  }

  #readSecretFile(member: Setting, file: unknown, path: Path, key: string): unknown {
    const at = [...path, `${key}_file`]
    const example = { example: `/run/secrets/${key}` }
    if (typeof file !== 'string' || file === '') {
      return this.#report(at, example, 'must be the path of a file that holds the secret')
    }
    const secret = readTextFile(resolve(this.#context.cwd, file))
    if ('wrong' in secret) return this.#report(at, example, `names a file that ${secret.wrong}`)
    const content = secret.text.trim()
    // Nobody means an empty list by it: nothing would be signed, and nobody told.
    if (content === '') return this.#report(at, example, 'names a file that is empty')
    this.#secretFile = file
    const value = this.read(member, member.kind === 'list' ? linesOf(content) : content, [...path, key])
    this.#secretFile = null
    return value
  }

  /** `examplePath`: where the example belongs, when that is not the place of the problem. */
  #report(path: Path, { example }: { example: unknown }, message: string, examplePath = path): typeof INVALID {
    this.#problems.add(() => {
      const origin = this.#origins.of(path)
      const place = this.#secretFile ?? (origin.source === 'default' ? null : placeIn(origin, path))
      return {
        path: showPath(path),
        message: `${message}${place === null ? '' : ` (${place})`}.`,
        example:
          this.#secretFile === null ? exampleAt(examplePath, example, this.#origins.of(examplePath)) : asText(example),
      }
    })
    return INVALID
  }

  #reportUnknown(group: GroupSetting, path: Path, key: string): void {
    this.#problems.add(() => {
      const at = [...path, key]
      const origin = this.#origins.of(at)
      const meant = meantBy(key, group)
      const shown = firstKey(group, meant ?? [])
      return {
        path: showPath(at),
        message: `is not a setting (${placeIn(origin, at)})${meant ? `; did you mean \`${meant.join('.')}\`?` : '.'}`,
        example: exampleAt([...path, ...shown.path], shown.example, origin),
      }
    })
  }

  #reportCheck(group: GroupSetting, path: Path, ...[inner, message, fitting]: Parameters<Report>): void {
    let setting: Setting = group
    for (const step of inner) {
      if (setting.kind === 'group') setting = memberOf(setting, step) ?? setting
      else if (setting.kind === 'map') setting = setting.entry
    }
    const example = fitting === undefined ? setting.example : writtenAs(setting, fitting)
    this.#report([...path, ...inner], { example }, message)
  }
}

function writtenAs(setting: Setting, value: unknown): unknown {
  return mapValues(setting, value, (scalar, plain) => scalar.toRaw(plain))
}

/** A key of the group spelt much like it, or one of that name further in: `port` for `server.port`. */
function meantBy(key: string, group: GroupSetting): readonly string[] | undefined {
  const spelt = nearest(key, Object.keys(group.members))
  if (spelt !== undefined) return [spelt]
  return settingsIn(group).find(({ path }) => path.at(-1) === key)?.path
}

/** A whole section makes no readable example: its first key does. */
function firstKey(group: GroupSetting, path: readonly string[]): { path: string[]; example: unknown } {
  let setting: Setting = group
  const found: string[] = []
  for (const step of path) {
    if (setting.kind === 'group') setting = memberOf(setting, step) ?? setting
    found.push(step)
  }
  while (setting.kind === 'group') {
    const [key = '', member]: [string?, Setting?] = Object.entries(setting.members)[0] ?? []
    if (!member) break
    found.push(key)
    setting = member
  }
  return { path: found, example: setting.example }
}

/** A secret is not repeated, a single one in the place of a list included. */
function givenInstead({ secret }: Setting, raw: unknown): string {
  return secret === undefined ? `, not ${show(raw)}` : ''
}

function validMember(result: Record<string, unknown>, key: string): unknown {
  if (result[key] === INVALID) throw INVALID
  return result[key]
}

function ownValue(group: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(group, key) ? group[key] : undefined
}

function linesOf(content: string): string[] {
  return content
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
