import { type TSchema, Type } from 'typebox'
import { instanceSettings } from '../settings.ts'

/** What the settings mean as JSON, without how an operator writes them. */
function plainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).filter(([key]) => key !== 'setting' && key !== 'default')
  return Object.fromEntries(members.map(([key, value]) => [key, plainSchema(value)]))
}

export const SettingsDocument = plainSchema(instanceSettings) as TSchema

export const SettingsPatch = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      'A JSON merge patch over the stored values, with members as GET answers them: null drops a stored value, so that the one of the settings file or the default applies again; an empty text clears.',
  },
)

export const SettingSources = Type.Record(
  Type.String(),
  Type.Enum(['default', 'file', 'environment', 'flag', 'stored']),
  { description: 'Where each setting has its value from, by its path.' },
)
