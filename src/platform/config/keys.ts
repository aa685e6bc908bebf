// The words settings are declared with. Each gives a TypeBox schema, whose static type is what the program
// gets, with a `setting` beside it that says how an operator's raw value becomes that type.

import { resolve } from 'node:path'
import { type Static, type TObject, type TProperties, type TSchema, type TUnion, Type } from 'typebox'
import { formatDuration, parseDuration } from './duration.ts'
import {
  type GroupSetting,
  type ListSetting,
  type MapSetting,
  type Mode,
  type NullableSetting,
  type ReadContext,
  type Report,
  type ScalarSetting,
  type Secrecy,
  settingOf,
} from './setting.ts'

export interface KeyOptions<Raw> {
  description?: string
  default?: Raw
  /** A default of its own in some modes. */
  byMode?: Partial<Record<Mode, Raw>>
  /** Needed where the default shows nothing: null, empty or absent. */
  example?: Raw
  secret?: Secrecy
}

export interface RangeOptions<Raw> extends KeyOptions<Raw> {
  min?: number
  max?: number
}

export interface TextOptions extends KeyOptions<string> {
  /** Completes "must be …". */
  what?: string
  maxLength?: number
  multiline?: boolean
  /** Gives the text to keep, or `undefined` when it does not fit. */
  parse?(text: string): string | undefined
}

export function text(options: TextOptions) {
  const { maxLength = 1000, multiline = false, parse = (given: string) => given } = options
  const what = options.what ?? `text of at most ${maxLength} characters${multiline ? '' : ' on one line'}`
  return Type.String(
    scalar(options, what, (raw) => {
      if (typeof raw !== 'string' || raw.length > maxLength || !isPlainText(raw, multiline)) return undefined
      const value = parse(raw)
      return value === undefined ? undefined : { value }
    }),
  )
}

/** A file or folder, made absolute. A `~` that no shell has read would be a folder of that name in the working directory. */
export function path(options: KeyOptions<string>) {
  return Type.String(
    scalar(options, 'the path of a file or folder, without `~`', (raw, { cwd }) =>
      typeof raw === 'string' && raw.length <= 4096 && !/^~?$|^~\//.test(raw) && isPlainText(raw, false)
        ? { value: resolve(cwd, raw) }
        : undefined,
    ),
  )
}

export function choice<const Values extends readonly string[]>(values: Values, options: KeyOptions<Values[number]>) {
  const what = values.length === 1 ? `\`${values[0]}\`` : `one of ${values.map((value) => `\`${value}\``).join(', ')}`
  return Type.Unsafe<Values[number]>(
    Type.Enum(
      [...values],
      scalar(options, what, (raw) => (values.some((value) => value === raw) ? { value: raw } : undefined)),
    ),
  )
}

export function flag(options: KeyOptions<boolean>) {
  const read = (raw: unknown) => (typeof raw === 'boolean' ? { value: raw } : undefined)
  return Type.Boolean(scalar(options, '`true` or `false`', read, truthOf))
}

export function autoOrFlag(options: KeyOptions<'auto' | boolean>) {
  const read = (raw: unknown) => (raw === 'auto' || typeof raw === 'boolean' ? { value: raw } : undefined)
  return Type.Unsafe<'auto' | boolean>(scalar(options, '`auto`, `true` or `false`', read, truthOf))
}

export function integer(options: RangeOptions<number>) {
  return Type.Integer(numeric('a whole number', options, Number.isSafeInteger))
}

export function bytes(options: RangeOptions<number>) {
  return Type.Integer(numeric('a number of bytes', options, Number.isSafeInteger))
}

export function number(options: RangeOptions<number> & { min: number; max: number }) {
  return Type.Number(numeric('a number', options, Number.isFinite))
}

export interface DurationOptions extends KeyOptions<string> {
  min?: string
  max?: string
}

/** Text such as `10s` outside, milliseconds inside. */
export function duration(options: DurationOptions) {
  const { min = '0', max = '3650d' } = options
  const [least, most] = [parseDuration(min) ?? 0, parseDuration(max) ?? 0]
  const what = `a duration from ${formatDuration(least)} to ${formatDuration(most)}`
  const read = (raw: unknown) =>
    inRange(raw === 0 ? 0 : typeof raw === 'string' ? parseDuration(raw) : undefined, least, most, Number.isSafeInteger)
  return Type.Integer(scalar(options, what, read, undefined, (value) => formatDuration(value as number)))
}

/** Null, which is also the default, means what the description says. */
export function orNull<Inner extends TSchema>(inner: Inner): TUnion<[Inner, ReturnType<typeof Type.Null>]> {
  const { description, example, secret, byMode, ...scalarSetting } = settingOf(inner) as ScalarSetting
  const setting: NullableSetting = {
    kind: 'nullable',
    description,
    example,
    secret,
    byMode,
    default: null,
    inner: { ...scalarSetting, description, example, secret },
  }
  return Type.Union([inner, Type.Null()], { description, default: null, setting })
}

export interface ListOptions<Raw> extends KeyOptions<Raw> {
  minItems?: number
  maxItems?: number
  /** What is given again, in whatever spelling, is left out. */
  eachOnce?: boolean
}

export function list<Item extends TSchema>(item: Item, options: ListOptions<unknown[]>) {
  const { minItems = 0, maxItems = 1000, eachOnce = false } = options
  const inner = settingOf(item)
  const setting: ListSetting = {
    kind: 'list',
    ...described({ ...options, example: options.example ?? shown(options.default) ?? [inner.example] }),
    secret: inner.secret,
    item: inner,
    minItems,
    maxItems,
    eachOnce,
  }
  return Type.Array(item, { description: options.description, default: options.default, minItems, maxItems, setting })
}

export interface MapOptions extends KeyOptions<Record<string, unknown>> {
  keyWhat: string
  keys: RegExp
  /** What is wrong with a key of that form, if anything. */
  keyProblem?: (key: string) => string | undefined
}

/** Names are the operator's. A layer adds to the entries of the layer below it; an empty map clears them. */
export function map<Entry extends TSchema>(entry: Entry, options: MapOptions) {
  const { keyWhat, keys, keyProblem = () => undefined } = options
  const setting: MapSetting = { kind: 'map', ...described(options), entry: settingOf(entry), keyWhat, keys, keyProblem }
  return Type.Record(Type.String(), entry, { description: options.description, default: options.default, setting })
}

export interface GroupOptions<Members extends TProperties> {
  description?: string
  /** What must hold between members. A check that looks at a member that is wrong already is left out. */
  checks?: ((value: Static<TObject<Members>>, report: Report, context: ReadContext) => void)[]
}

export function group<Members extends TProperties>(members: Members, options: GroupOptions<Members> = {}) {
  const entries = Object.entries(members).map(([key, member]) => [key, settingOf(member as TSchema)] as const)
  const setting: GroupSetting = {
    kind: 'group',
    description: options.description ?? '',
    members: Object.fromEntries(entries),
    example: Object.fromEntries(entries.map(([key, member]) => [key, member.example])),
    checks: (options.checks ?? []) as GroupSetting['checks'],
  }
  return Type.Object(members, { description: options.description, additionalProperties: false, setting })
}

function scalar<Raw>(
  options: KeyOptions<Raw>,
  what: string,
  read: ScalarSetting['read'],
  fromText: ScalarSetting['fromText'] = (given) => given,
  toRaw: ScalarSetting['toRaw'] = (value) => value,
) {
  const setting: ScalarSetting = { kind: 'scalar', ...described(options), what, read, fromText, toRaw }
  return { description: options.description, default: options.default, setting }
}

function described<Raw>(options: KeyOptions<Raw>) {
  const { description = '', byMode, secret } = options
  const example = options.example ?? options.default
  return { description, example, default: options.default as unknown, byMode, secret }
}

function shown(items: unknown[] | undefined): unknown[] | undefined {
  return items !== undefined && items.length > 0 ? items : undefined
}

function inRange(raw: unknown, min: number, max: number, isNumber: (raw: unknown) => boolean) {
  return isNumber(raw) && (raw as number) >= min && (raw as number) <= max ? { value: (raw as number) + 0 } : undefined
}

function numeric(what: string, options: RangeOptions<number>, isNumber: (raw: unknown) => boolean) {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = options
  const range = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`
  return scalar(options, what + range, (raw) => inRange(raw, min, max, isNumber), numberOf)
}

function numberOf(given: string): unknown {
  return /^[+-]?\d+(\.\d+)?$/.test(given) ? Number(given) : given
}

function truthOf(given: string): unknown {
  if (/^(true|yes|on|1)$/i.test(given)) return true
  return /^(false|no|off|0)$/i.test(given) ? false : given
}

// Control characters end up in headers, logs and file names, where they do harm.
const CONTROL = /\p{Cc}/u
const CONTROL_BUT_LINES = /[^\P{Cc}\t\n\r]/u

function isPlainText(given: string, multiline: boolean): boolean {
  return given.isWellFormed() && !(multiline ? CONTROL_BUT_LINES : CONTROL).test(given)
}
