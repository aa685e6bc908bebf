/**
 * Writes a value as its schema says: members that the schema does not name never leave the process. The framework's
 * own serialiser needs 2 ms and 100 kB for each response with a nullable member, before the first request; this one is
 * made of closures when a response is first written.
 */
import type { JsonSchema } from '../input/problem-texts.ts'

type Write = (value: unknown) => string

export function lazyJsonWriter(schema: JsonSchema): Write {
  let write: Write | undefined
  return (value) => {
    write ??= jsonWriter(schema)
    return write(value)
  }
}

export function jsonWriter(schema: JsonSchema): Write {
  if (schema.anyOf !== undefined) return unionWriter(schema.anyOf)
  switch (schema.type) {
    case 'object':
      return objectWriter(schema)
    case 'array':
      return arrayWriter(jsonWriter((schema.items ?? {}) as JsonSchema))
    case 'integer':
    case 'number':
      return (value) => (typeof value === 'number' && Number.isFinite(value) ? String(value) : 'null')
    case 'boolean':
      return (value) => (value ? 'true' : 'false')
    default:
      // A text, or something that the schema leaves open.
      return (value) => JSON.stringify(value) ?? 'null'
  }
}

function objectWriter(schema: JsonSchema): Write {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  const required = new Set((schema.required ?? []) as string[])
  const members = properties.map(([name, one]) => ({
    name,
    key: `${JSON.stringify(name)}:`,
    write: jsonWriter(one),
    isRequired: required.has(name),
  }))
  const others = otherMembers(schema, new Set(members.map(({ name }) => name)))
  return (value) => {
    if (typeof value !== 'object' || value === null) return 'null'
    const object = value as Record<string, unknown>
    let text = ''
    for (const { name, key, write, isRequired } of members) {
      const member = object[name]
      if (member !== undefined) text += (text === '' ? key : `,${key}`) + write(member)
      else if (isRequired) throw new Error(`The response lacks the member ${name}, which its schema requires`)
    }
    return `{${others === null ? text : others(object, text)}}`
  }
}

/** For maps, whose members have no names in the schema but one type. Null when there may be none. */
function otherMembers(
  { additionalProperties, patternProperties, properties }: JsonSchema,
  named: ReadonlySet<string>,
): ((object: Record<string, unknown>, text: string) => string) | null {
  const pattern = patternProperties === undefined ? undefined : Object.values(patternProperties as object)[0]
  // An object without any declared member is open: it would otherwise always be empty.
  const open = additionalProperties === undefined && properties === undefined ? {} : undefined
  const schema =
    pattern ??
    (typeof additionalProperties === 'boolean' ? (additionalProperties || undefined) && {} : additionalProperties) ??
    open
  if (schema === undefined) return null
  const write = jsonWriter(schema as JsonSchema)
  return (object, text) => {
    let all = text
    for (const name of Object.keys(object)) {
      const member = object[name]
      if (named.has(name) || member === undefined) continue
      all += `${all === '' ? '' : ','}${JSON.stringify(name)}:${write(member)}`
    }
    return all
  }
}

function arrayWriter(write: Write): Write {
  return (value) => {
    if (!Array.isArray(value)) return 'null'
    let text = ''
    for (let i = 0; i < value.length; i++)
      text += (i === 0 ? '' : ',') + (value[i] === undefined ? 'null' : write(value[i]))
    return `[${text}]`
  }
}

/** Null or one other shape is written as that shape; of several objects the one whose constants fit. */
function unionWriter(branches: JsonSchema[]): Write {
  const shapes = branches.filter(({ type }) => type !== 'null')
  const objects = shapes
    .filter(({ type }) => type === 'object')
    .map((shape) => ({ fits: fitter(shape), write: jsonWriter(shape) }))
  const arrays = shapes.filter(({ type }) => type === 'array').map(jsonWriter)
  return (value) => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
    if (Array.isArray(value)) return (arrays[0] ?? JSON.stringify)(value)
    if (objects.length === 0) return JSON.stringify(value)
    const chosen =
      objects.length === 1 ? objects[0] : objects.find(({ fits }) => fits(value as Record<string, unknown>))
    if (chosen === undefined) throw new Error('The response fits none of the shapes that its schema allows')
    return chosen.write(value)
  }
}

/** Told apart by required members, and by those that have one possible value. */
function fitter({ properties, required }: JsonSchema): (value: Record<string, unknown>) => boolean {
  const names = (required ?? []) as string[]
  const constants = Object.entries((properties ?? {}) as Record<string, JsonSchema>).filter(([, one]) => 'const' in one)
  return (value) =>
    names.every((name) => value[name] !== undefined) &&
    constants.every(([name, one]) => value[name] === undefined || value[name] === one.const)
}
