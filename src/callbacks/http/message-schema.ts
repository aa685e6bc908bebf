/** JSON Schemas for the documentation, from the descriptors that also read and write the messages. */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { type TSchema, Type } from 'typebox'

type Schema = Record<string, unknown>

const SCALARS: Partial<Record<ScalarType, Schema>> = {
  [ScalarType.STRING]: { type: 'string' },
  [ScalarType.BOOL]: { type: 'boolean' },
  [ScalarType.INT32]: { type: 'integer', format: 'int32' },
  [ScalarType.INT64]: { type: 'string', format: 'int64' },
  [ScalarType.DOUBLE]: { type: 'number' },
  [ScalarType.BYTES]: { type: 'string', contentEncoding: 'base64' },
}

const KNOWN: Readonly<Record<string, Schema>> = {
  'google.protobuf.Timestamp': { type: 'string', format: 'date-time' },
  'google.protobuf.Duration': { type: 'string', examples: ['10s', '0.5s'] },
  'google.protobuf.Struct': { type: 'object' },
  'google.protobuf.Empty': { type: 'object' },
  'temporal.api.common.v1.Payload': {
    description: 'Any JSON value, or a payload as {metadata, data} with values in base64.',
  },
}

/** The whole message, or the members that are not left out; null means something in those that are `nullable`. */
export function messageSchema(
  desc: DescMessage,
  without: readonly string[] = [],
  nullable: readonly string[] = [],
): TSchema {
  const fields = desc.fields.filter(({ localName }) => !without.includes(localName))
  const { properties, ...schema } = membersSchema(fields, new Set())
  const members = properties as Record<string, Schema>
  for (const name of nullable) members[name] = { ...members[name], type: [members[name]?.type, 'null'] }
  return { ...schema, properties: members } as unknown as TSchema
}

/** What may stand in the query of an address: fields that are one value, none of which has to be there. */
export function querySchema(desc: DescMessage, without: readonly string[], also: Record<string, TSchema>): TSchema {
  const fields = desc.fields.filter(
    ({ localName, fieldKind }) => !without.includes(localName) && fieldKind === 'scalar',
  )
  const members = Object.fromEntries(
    fields.map((field) => [field.jsonName, Type.Optional(fieldSchema(field, new Set()) as TSchema)]),
  )
  return Type.Object({ ...members, ...also })
}

function membersSchema(fields: readonly DescField[], named: Set<string>): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.jsonName, fieldSchema(field, named)])),
  }
}

function fieldSchema(field: DescField, named: Set<string>): Schema {
  const value = valueSchema(field, named)
  if (field.fieldKind === 'list') return { type: 'array', items: value }
  return field.fieldKind === 'map' ? { type: 'object', additionalProperties: value } : value
}

function valueSchema(field: DescField, named: Set<string>): Schema {
  if (field.message !== undefined) return KNOWN[field.message.typeName] ?? namedSchema(field.message, named)
  if (field.enum !== undefined) return { type: 'string', enum: field.enum.values.map(({ name }) => name) }
  return SCALARS[field.scalar as ScalarType] ?? {}
}

/** In full where a message is first met, as a reference after that: failures hold failures. */
function namedSchema(desc: DescMessage, named: Set<string>): Schema {
  if (named.has(desc.typeName)) return { $ref: `#/components/schemas/${desc.typeName}` }
  named.add(desc.typeName)
  return { $id: desc.typeName, ...membersSchema(desc.fields, named) }
}
