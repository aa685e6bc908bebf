import type { Value } from './condition.ts'
import type { FieldType } from './fields.ts'
import { parseInt64 } from './int64.ts'
import { parseInstant } from './parse-instant.ts'
import { textWords } from './text-words.ts'

/**
 * One value of a search attribute as `callback_attributes` keeps it; a list has several rows, NULL and an empty list
 * have none. Texts are in code point order; numbers are exact up to 64 bits (`numeric` on both engines).
 */
export interface AttributeRow {
  name: string
  type: FieldType
  text_value: string | null
  number_value: bigint | number | null
}

/** The values in the JSON of a payload: none for `null`, undefined when they are not of the type. */
export function readAttribute(type: FieldType, json: string): Value[] | undefined {
  const value = parseExactly(json)
  if (value === undefined) return undefined
  if (value === null) return []
  if (type === 'KeywordList' && Array.isArray(value)) {
    return value.every(isStorableText) ? [...new Set(value)] : undefined
  }
  const single = readSingle(type, value)
  return single === undefined ? undefined : [single]
}

function readSingle(type: FieldType, value: unknown): Value | undefined {
  switch (type) {
    case 'Keyword':
    case 'KeywordList':
    case 'Text':
      return isStorableText(value) ? value : undefined
    case 'Bool':
      return typeof value === 'boolean' ? value : undefined
    case 'Datetime':
      return typeof value === 'string' ? parseInstant(value) : undefined
    case 'Int':
      return value instanceof NumberText ? parseInt64(value.text) : undefined
    case 'Double': {
      const number = value instanceof NumberText ? Number(value.text) : Number.NaN
      return Number.isFinite(number) ? number : undefined
    }
  }
}

/** As written: a JavaScript number would lose the last digits of 64 bits. */
class NumberText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

function parseExactly(json: string): unknown {
  try {
    return JSON.parse(json, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value,
    )
  } catch {
    return undefined
  }
}

// PostgreSQL keeps neither.
function isStorableText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

export function attributeRows(name: string, type: FieldType, values: readonly Value[]): AttributeRow[] {
  return values
    .filter((value) => value !== null)
    .map((value) => ({
      name,
      type,
      text_value: typeof value === 'string' ? (type === 'Text' ? wordText(value) : value) : null,
      number_value: typeof value === 'string' ? null : typeof value === 'boolean' ? BigInt(value) : value,
    }))
}

/** All words with a space around each, so that one is found by looking for it with its spaces. */
export function wordText(text: string): string {
  return ` ${textWords(text).join(' ')} `
}
