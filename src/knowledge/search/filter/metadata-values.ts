import type { JsonValue, Metadata } from '../../text/frontmatter/metadata.ts'
import { canonicalType, tagsOf } from '../../text/frontmatter/note-metadata.ts'
import { withoutHashes } from '../../text/frontmatter/tags.ts'
import { composed, unicodeForms } from '../words/unicode-forms.ts'
import type { Bound, MetadataCondition, MetadataFilter, MetadataScalar } from './metadata-filter.ts'

/** What of the frontmatter filters can compare: each key, dotted where it is inside another, with its values. */
export type MetadataValues = ReadonlyMap<string, readonly MetadataScalar[]>

// Frontmatter of any size is stored; what is behind these many values cannot be filtered by.
const MOST_VALUES = 256
const MOST_NESTED = 8
const TAGS = 'tags'
const NUMBER = /^[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?$/

export function metadataValues(metadata: Metadata): MetadataValues {
  const entries = Object.entries(metadata).map(([key, value]): Entry => [key, key === TAGS ? tagsOf(metadata) : value])
  const values = valuesOf(entries)
  if (values.count < MOST_VALUES) return values.byKey
  // Single values come first, then tags, then other lists, the longest last: those that are too long take nothing from the others.
  const ranked = entries.map((entry) => ({ entry, rank: rankOf(entry) }))
  return valuesOf(ranked.sort((one, other) => one.rank - other.rank).map(({ entry }) => entry)).byKey
}

const RANK_OF_TAGS = 1.5

function rankOf(entry: Entry): number {
  const { count } = valuesOf([entry])
  return entry[0] === TAGS ? Math.min(count, RANK_OF_TAGS) : count
}

type Entry = [key: string, value: JsonValue | undefined]

function valuesOf(entries: readonly Entry[]): { byKey: MetadataValues; count: number } {
  const byKey = new Map<string, MetadataScalar[]>()
  let count = 0
  const add = (key: string, value: JsonValue | undefined, depth: number): void => {
    if (value === null || value === undefined || count >= MOST_VALUES || depth > MOST_NESTED) return
    if (Array.isArray(value)) {
      for (const element of value) if (typeof element !== 'object') add(key, element, depth + 1)
    } else if (typeof value === 'object') {
      for (const [name, inner] of Object.entries(value)) add(`${key}.${name}`, inner, depth + 1)
    } else {
      count++
      const others = byKey.get(key)
      if (others === undefined) byKey.set(key, [value])
      else others.push(value)
    }
  }
  for (const [key, value] of entries) add(key, value, 0)
  return { byKey, count }
}

/** Whether the frontmatter of a note of that type fulfils all of the filters. */
export function passesFilters(values: MetadataValues, typeKey: string, filters: readonly MetadataFilter[]): boolean {
  return filters.every(({ key, condition }) => passes(key, values.get(key) ?? [], typeKey, condition))
}

function passes(key: string, own: readonly MetadataScalar[], typeKey: string, condition: MetadataCondition): boolean {
  if (condition.op === 'range') {
    const { low, high } = condition
    return own.some((value) => isAbove(value, low) && isBelow(value, high))
  }
  const has = (value: MetadataScalar) =>
    own.some((other) => isSame(key, other, value)) ||
    (key === TYPE && typeKeys(value).some((other) => composed(other) === composed(typeKey)))
  if (condition.op === 'in') return condition.values.some(has)
  return condition.values.every(has) === (condition.op === 'all')
}

/** The key whose values are compared as types are, too, however the frontmatter spells them. */
export const TYPE = 'type'

/** The canonical forms of a type as a caller writes it, one for each Unicode form. */
export function typeKeys(type: MetadataScalar): string[] {
  return unicodeForms(String(type)).map(canonicalType)
}

const BOOLEAN = /^(?:true|false)$/i

/** Equal for values that count as equal: numbers however they are written, texts in any Unicode form, true, false and tags in any case. */
export function sameForm(key: string, value: MetadataScalar): string {
  return composed(writtenForm(key, value))
}

/** Likewise, except that Unicode forms differ. */
export function writtenForm(key: string, value: MetadataScalar): string {
  const own = key === TAGS ? withoutHashes(String(value)) : value
  const number = asNumber(own)
  if (number !== null) return String(number)
  const text = String(own)
  return key === TAGS || BOOLEAN.test(text) ? text.toLowerCase() : text
}

/** Of values of one form, too, some are not equal: see `sharesForm`. */
function isSame(key: string, one: MetadataScalar, other: MetadataScalar): boolean {
  if (sameForm(key, one) !== sameForm(key, other)) return false
  if (key === TAGS) return tagForm(one) === tagForm(other)
  return !isLong(one) || !isLong(other) || BigInt(one) === BigInt(other)
}

/**
 * Whether values that are not equal to this one may have its form: JavaScript takes whole numbers with more digits than these, such as
 * identifiers of other systems, for one another. A tag is a text: 3.10 is not 3.1.
 */
export function sharesForm(key: string, value: MetadataScalar): boolean {
  if (key !== TAGS) return isLong(value)
  const tag = tagForm(value)
  return asNumber(tag) !== null && !SHORT.test(tag)
}

const SHORT = /^(?:0|[1-9]\d{0,14})$/
const LONG = /^[+-]?\d{16,40}$/

function isLong(value: MetadataScalar): value is string {
  return typeof value === 'string' && LONG.test(value)
}

function tagForm(value: MetadataScalar): string {
  return composed(withoutHashes(String(value)).toLowerCase())
}

function isAbove(value: MetadataScalar, low: Bound | null): boolean {
  return low === null || isInOrder(low.value, value, low.isInclusive)
}

function isBelow(value: MetadataScalar, high: Bound | null): boolean {
  return high === null || isInOrder(value, high.value, high.isInclusive)
}

/** As numbers when both look like one, else as texts. */
function isInOrder(one: MetadataScalar, other: MetadataScalar, maybeEqual: boolean): boolean {
  if (isLong(one) && isLong(other)) return maybeEqual ? BigInt(one) <= BigInt(other) : BigInt(one) < BigInt(other)
  const [a, b] = [asNumber(one), asNumber(other)]
  if (a !== null && b !== null) return maybeEqual ? a <= b : a < b
  const [first, second] = [composed(String(one)), composed(String(other))]
  return maybeEqual ? first <= second : first < second
}

function asNumber(value: MetadataScalar): number | null {
  if (typeof value === 'boolean') return null
  if (typeof value === 'string' && !NUMBER.test(value)) return null
  const number = Number(value)
  // Minus zero would be written differently.
  return Number.isFinite(number) ? number + 0 : null
}
