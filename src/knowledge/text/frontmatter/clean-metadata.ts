import { dropUnstorable } from '../clean-text.ts'
import type { JsonValue, Metadata } from './metadata.ts'
import { badYaml, MAX_DEPTH, MAX_YAML, tooDeep } from './yaml-bounds.ts'

// With their values they could not be written. Those that are null are not, and could be any number.
const MOST_KEYS = MAX_YAML / 4

/** Values that came as JSON, fit to be stored: what no database can hold is left out of keys and texts alike. */
export function cleanMetadata(metadata: Metadata): Metadata {
  if (Object.keys(metadata).length > MOST_KEYS) throw badYaml(`it would have more than ${MOST_KEYS} keys`)
  return cleanMembers(metadata, 1)
}

function cleanMembers(members: { [key: string]: JsonValue }, depth: number): Metadata {
  return Object.fromEntries(
    Object.entries(members).map(([key, value]) => [dropUnstorable(key), cleanValue(value, depth)]),
  )
}

function cleanValue(value: JsonValue, depth: number): JsonValue {
  if (typeof value === 'string') return dropUnstorable(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) throw tooDeep()
  return Array.isArray(value) ? value.map((item) => cleanValue(item, depth + 1)) : cleanMembers(value, depth + 1)
}
