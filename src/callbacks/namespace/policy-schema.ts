/** JSON Schemas of a policy, made from the settings: one place says what a key is and which values it takes. */
import { type TSchema, Type } from 'typebox'
import type { GroupSetting, NullableSetting, ScalarSetting, Setting } from '../../platform/config/setting.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import { camelCase } from './policy-json.ts'

/** `both` also lets the snake_case spelling of each member pass, whatever is in it. */
export type Spelling = 'camel' | 'both'

const CONTEXT = { mode: 'serve', cwd: '/' } as const

/** The members of a group as a caller may send them, each of which may be left out or be null. */
export function inputMembers(group: GroupSetting, spelling: Spelling): Record<string, TSchema> {
  const members = Object.entries(group.members).map(([key, member]) => {
    const schema = inputSchema(member, spelling)
    return [camelCase(key), Type.Optional(member.kind === 'nullable' ? schema : nullable(schema))]
  })
  return Object.fromEntries(members)
}

/** An object without other members; for `both` those whose snake_case name is among `keys` pass as well. */
export function closedObject(
  members: Record<string, TSchema>,
  keys: readonly string[],
  spelling: Spelling,
  options: { description?: string; $id?: string } = {},
): TSchema {
  const snake = keys.filter((key) => camelCase(key) !== key)
  if (spelling === 'camel' || snake.length === 0)
    return Type.Object(members, { additionalProperties: false, ...options })
  const patternProperties = { [`^(?:${snake.join('|')})$`]: {} }
  return Type.Object(members, { additionalProperties: false, patternProperties, ...options })
}

function inputSchema(setting: Setting, spelling: Spelling): TSchema {
  switch (setting.kind) {
    case 'scalar':
      return checked(setting, describe(setting, setting.what))
    case 'nullable':
      return nullable(checked(setting.inner, describe(setting, `${setting.inner.what}, or null`)))
    case 'list': {
      const { minItems, maxItems, description } = setting
      return Type.Array(itemSchema(setting.item, spelling), { minItems, maxItems, description })
    }
    case 'group': {
      const keys = Object.keys(setting.members)
      return closedObject(inputMembers(setting, spelling), keys, spelling, { description: setting.description })
    }
    case 'map':
      throw new Error('A policy has no maps')
  }
}

/** Inside a list nothing is inherited: what has no default is required. */
function itemSchema(setting: Setting, spelling: Spelling): TSchema {
  if (setting.kind !== 'group') return inputSchema(setting, spelling)
  const members = Object.entries(setting.members).map(([key, member]) => {
    const schema = inputSchema(member, spelling)
    return [camelCase(key), member.default === undefined ? schema : Type.Optional(schema)]
  })
  return closedObject(Object.fromEntries(members), Object.keys(setting.members), 'camel')
}

export function outputSchema(setting: Setting): TSchema {
  switch (setting.kind) {
    case 'scalar':
      return plain(setting, setting.description)
    case 'nullable':
      return nullable(plain(setting.inner, setting.description))
    case 'list':
      return Type.Array(outputSchema(setting.item), { description: setting.description })
    case 'group': {
      const members = Object.entries(setting.members).map(([key, member]) => [camelCase(key), outputSchema(member)])
      return Type.Object(Object.fromEntries(members), { description: setting.description })
    }
    case 'map':
      throw new Error('A policy has no maps')
  }
}

function checked(setting: ScalarSetting, description: string): TSchema {
  const kind = typeof setting.example
  return Type.Refine(
    plain(setting, description),
    (value: unknown) => typeof value !== kind || setting.read(value, CONTEXT) !== undefined,
    () => `must be ${setting.what}`,
  )
}

function plain({ example }: ScalarSetting, description: string): TSchema {
  if (typeof example === 'string') return Type.String({ description })
  return typeof example === 'boolean' ? Type.Boolean({ description }) : Type.Number({ description })
}

function describe({ description }: ScalarSetting | NullableSetting, what: string): string {
  const wanted = `${what[0]?.toUpperCase()}${what.slice(1)}.`
  return description === '' ? wanted : `${description} ${wanted}`
}
