import { dropUnstorable } from '../clean-text.ts'
import { dateOfMonth } from '../iso-time.ts'
import type { JsonValue, Metadata } from './metadata.ts'
import { BOUNDS, badYaml, checkKey, MAX_DEPTH, MAX_YAML, refuseCostlyYaml, tooDeep, tooLong } from './yaml-bounds.ts'

export const FIRST = ['title', 'type', 'permalink']

/**
 * Metadata as block YAML, each text on one line. Every note that is created goes through here, so this is our own:
 * a general library takes some fifty times as long.
 */
export function writeYaml(metadata: Metadata, bounds = BOUNDS): string {
  let yaml = ''
  for (const key of FIRST) {
    const value = metadata[key]
    if (value !== undefined && Object.hasOwn(metadata, key)) yaml += writeEntry(key, value)
  }
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (value !== undefined && !FIRST.includes(key)) yaml = added(yaml, writeEntry(key, value))
  }
  // What is kept must be readable again.
  refuseCostlyYaml(yaml, bounds)
  return yaml
}

/** `key: value` with the newline. */
export function writeEntry(key: string, value: JsonValue, indent = '', depth = 1): string {
  checkKey(key)
  return `${writeText(key)}:${afterKey(value, indent, depth)}`
}

export function isScalarValue(value: JsonValue): value is string | number | boolean | null {
  return typeof value !== 'object' || value === null
}

export function writeScalar(value: string | number | boolean | null): string {
  if (typeof value === 'string') return writeText(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw badYaml('a number in it is not finite')
  return String(value)
}

function afterKey(value: JsonValue, indent: string, depth: number): string {
  if (isScalarValue(value)) return ` ${writeScalar(value)}\n`
  const inline = emptyCollection(value)
  if (inline !== null) return ` ${inline}\n`
  if (depth >= MAX_DEPTH) throw tooDeep()
  if (Array.isArray(value)) return `\n${indent}${list(value, indent, depth + 1)}`
  return `\n${indent}  ${mapping(value, `${indent}  `, depth + 1)}`
}

// A collection begins where its first line stands already; the lines after it are indented.
function list(items: JsonValue[], indent: string, depth: number): string {
  let yaml = ''
  for (const item of items) yaml = added(yaml, `${yaml === '' ? '' : indent}- ${inList(item, `${indent}  `, depth)}`)
  return yaml
}

function mapping(map: { [key: string]: JsonValue }, indent: string, depth: number): string {
  let yaml = ''
  for (const [key, value] of Object.entries(map)) {
    if (value !== undefined) yaml = added(yaml, (yaml === '' ? '' : indent) + writeEntry(key, value, indent, depth))
  }
  return yaml
}

/** No more is written than can be kept, of however many values. */
function added(yaml: string, more: string): string {
  if (yaml.length + more.length > MAX_YAML) throw tooLong()
  return yaml + more
}

function inList(item: JsonValue, indent: string, depth: number): string {
  if (isScalarValue(item)) return `${writeScalar(item)}\n`
  const inline = emptyCollection(item)
  if (inline !== null) return `${inline}\n`
  if (depth >= MAX_DEPTH) throw tooDeep()
  return Array.isArray(item) ? list(item, indent, depth + 1) : mapping(item, indent, depth + 1)
}

function emptyCollection(value: JsonValue[] | { [key: string]: JsonValue }): string | null {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : null
  return Object.values(value).every((member) => member === undefined) ? '{}' : null
}

function writeText(raw: string): string {
  const text = dropUnstorable(raw)
  switch (styleOf(text)) {
    case 'plain':
      return text
    case 'single':
      return `'${text.replaceAll("'", "''")}'`
    default:
      return JSON.stringify(text).replace(UNPRINTABLE, escapeCharacter)
  }
}

const COLON = 58
const HASH = 35
const SPACE = 32
const INDICATORS = new Set(',[]{}#&*!|>\'"%@`?:'.split('').map((character) => character.charCodeAt(0)))

function styleOf(text: string): 'plain' | 'single' | 'double' {
  const last = text.length - 1
  let isPlain = last >= 0
  for (let at = 0; at <= last; at++) {
    const code = text.charCodeAt(at)
    if (code < SPACE || code > 126) {
      if (isUnprintable(code)) return 'double'
    } else if (code === COLON) {
      if (at === last || text.charCodeAt(at + 1) === SPACE) isPlain = false
    } else if (code === HASH && at > 0 && text.charCodeAt(at - 1) === SPACE) isPlain = false
  }
  return isPlain && beginsAndEndsPlainly(text) ? 'plain' : 'single'
}

function beginsAndEndsPlainly(text: string): boolean {
  const first = text.charCodeAt(0)
  if (first === SPACE || text.charCodeAt(text.length - 1) === SPACE || INDICATORS.has(first)) return false
  if (isLetter(first)) return text.length > 5 || !WORDS.has(text.toLowerCase())
  // A hyphen begins a list item, a fence or a number; before a letter it is nothing special.
  if (first === 45 && !isLetter(text.charCodeAt(1))) return false
  return first > 126 || first === 47 || first === 95 || !(isNoText(text) || text.startsWith('...'))
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

// Other readers of these files know YAML 1.1, where more texts are no texts: `no`, `10:30`, `1_000`.
const WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off'])
const NUMBERS = [
  /^[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:e[-+]?[0-9]+)?$/i,
  /^[-+]?0(?:b[01_]+|o[0-7_]+|x[0-9a-f_]+)$/i,
  /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/,
  /^[-+]?\.(?:inf|nan)$/i,
]

function isNoText(text: string): boolean {
  return NUMBERS.some((form) => form.test(text)) || text === '~' || text === '<<' || text === '=' || isNoTime(text)
}

const TIME =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:(?:t|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.\d*)?(?:[ \t]*(?:z|[-+](\d\d?)(?::(\d\d))?))?)?$/i

// Hours, minutes, seconds, and the first two of the offset.
const HIGHEST = [23, 59, 59, 23, 59]

/** Written as a day or a time, but none: readers that know such values refuse the whole text for it. */
function isNoTime(text: string): boolean {
  const parts = TIME.exec(text)
  if (parts === null) return false
  const numbers = parts.slice(1).map((part) => Number(part ?? 0))
  const [year, month, day, ...clock] = numbers as [number, number, number, ...number[]]
  const isDay = year > 0 && dateOfMonth(year, month, day) !== null
  return !isDay || clock.some((part, at) => part > (HIGHEST[at] as number))
}

// Control characters, and what some reader takes for a line break or a mark of the encoding.
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

function isUnprintable(code: number): boolean {
  if (code < SPACE || (code >= 0x7f && code <= 0x9f)) return true
  return code === 0x2028 || code === 0x2029 || code === 0xfeff || code >= 0xfffe
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
