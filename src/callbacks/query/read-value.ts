import type { Value } from './condition.ts'
import { type Field, type FieldType, statusName } from './fields.ts'
import { parseInt64 } from './int64.ts'
import { parseInstant } from './parse-instant.ts'
import { parseNanoseconds } from './parse-nanoseconds.ts'
import type { Token } from './read-tokens.ts'
import { textWords } from './text-words.ts'

const TEXT = 'a text in quotes'
const WANTED: Record<FieldType, string> = {
  Keyword: TEXT,
  KeywordList: TEXT,
  Text: 'a text in quotes with at least one word',
  Int: 'a whole number of 64 bits',
  Double: 'a number',
  Bool: 'true or false',
  Datetime: 'an RFC 3339 time in quotes, such as "2026-01-31T12:00:00Z"',
}

/** What the field is compared with, or undefined when the token is nothing of its type. */
export function readValue(field: Field, token: Token): Value | undefined {
  if (token.kind === 'word' && token.text.toUpperCase() === 'NULL') return null
  if (field.isSystem && field.name === 'ExecutionDuration' && token.kind === 'string') {
    return parseNanoseconds(token.text)
  }
  if (field.isSystem && field.name === 'ExecutionStatus' && token.kind === 'string') return statusName(token.text)
  return READERS[field.type](token)
}

export function wantedValue(field: Field): string {
  if (!field.isSystem || field.name !== 'ExecutionDuration') return WANTED[field.type]
  return 'a whole number of nanoseconds, or a duration in quotes such as "5m"'
}

const READERS: Record<FieldType, (token: Token) => Value | undefined> = {
  Keyword: stringOf,
  KeywordList: stringOf,
  Text: (token) => (token.kind === 'string' && textWords(token.text).length > 0 ? token.text : undefined),
  Int: ({ kind, text }) => (kind === 'number' ? parseInt64(text) : undefined),
  Double: ({ kind, text }) => (kind === 'number' && Number.isFinite(Number(text)) ? Number(text) : undefined),
  Bool: boolOf,
  Datetime: ({ kind, text }) => (kind === 'string' ? parseInstant(text) : undefined),
}

function stringOf({ kind, text }: Token): string | undefined {
  return kind === 'string' ? text : undefined
}

function boolOf({ kind, text }: Token): boolean | undefined {
  if (kind !== 'word') return undefined
  const word = text.toUpperCase()
  return word === 'TRUE' ? true : word === 'FALSE' ? false : undefined
}
