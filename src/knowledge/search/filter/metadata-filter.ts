import { AppError } from '../../../platform/errors/app-error.ts'

export type MetadataScalar = string | number | boolean

export type MetadataCondition =
  /** One of these; a list has it when one of its elements is. */
  | { op: 'in'; values: MetadataScalar[] }
  /** All of these. */
  | { op: 'all'; values: MetadataScalar[] }
  /** Some of these at most. */
  | { op: 'not_all'; values: MetadataScalar[] }
  /** Both inclusive; null is open. */
  | { op: 'range'; low: Bound | null; high: Bound | null }

export interface Bound {
  value: MetadataScalar
  isInclusive: boolean
}

/** One condition on the frontmatter. All of several must hold. */
export interface MetadataFilter {
  /** Dotted: the names on the way to the value. */
  key: string
  condition: MetadataCondition
}

const KEY = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
const LONGEST_KEY = 200
const MOST_FILTERS = 32
const MOST_VALUES = 100
const OPERATORS = '$in, $gt, $gte, $lt, $lte, $between'

/** Reads `metadata_filters` of a request. Whatever is no filter is refused, not ignored. */
export function parseMetadataFilters(value: unknown): MetadataFilter[] {
  if (value === undefined || value === null) return []
  if (!isObject(value)) throw invalid('metadata_filters is an object with a condition for each key')
  const entries = Object.entries(value)
  if (entries.length > MOST_FILTERS) throw invalid(`metadata_filters has more than ${MOST_FILTERS} keys`)
  return entries.map(([key, condition]) => {
    if (key.length > LONGEST_KEY || !KEY.test(key)) {
      throw invalid(
        `metadata_filters has a key that is none: ${JSON.stringify(key.slice(0, 50))}; write letters from a to z, digits, _ and -, dots between names`,
      )
    }
    return { key, condition: conditionOf(key, condition) }
  })
}

function conditionOf(key: string, value: unknown): MetadataCondition {
  if (Array.isArray(value)) return { op: 'all', values: list(key, value) }
  if (!isObject(value)) return { op: 'in', values: [scalar(key, value)] }
  const [entry, ...others] = Object.entries(value)
  if (entry === undefined || others.length > 0) {
    throw invalid(`metadata_filters.${key} needs exactly one operator: one of ${OPERATORS}`)
  }
  const [operator, operand] = entry
  switch (operator) {
    case '$in':
      return { op: 'in', values: list(key, operand) }
    case '$gt':
    case '$gte':
      return { op: 'range', low: bound(key, operand, operator === '$gte'), high: null }
    case '$lt':
    case '$lte':
      return { op: 'range', low: null, high: bound(key, operand, operator === '$lte') }
    case '$between': {
      if (!Array.isArray(operand) || operand.length !== 2) {
        throw invalid(`metadata_filters.${key}: $between needs a list of two values, the lowest and the highest`)
      }
      return { op: 'range', low: bound(key, operand[0], true), high: bound(key, operand[1], true) }
    }
    default:
      throw invalid(
        `metadata_filters.${key} has an unknown operator ${JSON.stringify(operator.slice(0, 50))}: use one of ${OPERATORS}`,
      )
  }
}

function bound(key: string, value: unknown, isInclusive: boolean): Bound {
  return { value: scalar(key, value), isInclusive }
}

function list(key: string, value: unknown): MetadataScalar[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalid(`metadata_filters.${key} needs a list with a value in it`)
  if (value.length > MOST_VALUES) throw invalid(`metadata_filters.${key} has more than ${MOST_VALUES} values`)
  return value.map((element) => scalar(key, element))
}

function scalar(key: string, value: unknown): MetadataScalar {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw invalid(`metadata_filters.${key} is compared with texts, numbers and true or false only`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(message: string): AppError {
  return new AppError('invalid_argument', message)
}
