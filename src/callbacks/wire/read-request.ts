import { type DescField, type DescMessage, type MessageShape, ScalarType } from '@bufbuild/protobuf'
import { MAX_ELEMENTS } from '../../platform/rpc/count-elements.ts'
import type { TextOptions } from './json.ts'
import { type ReadOptions, readFields } from './read-message.ts'
import { toInvalidArgument, WireProblem, withinField } from './wire-problem.ts'

/** Texts by name; a parameter that is given twice has an array. */
export type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>

/** Fields by their names in lowerCamelCase. */
export type PathValues = Readonly<Record<string, string>>

/** In any case: some clients write `True`. The name alone says yes. */
const YES = new Set(['', 'true', 't', '1'])
const NO = new Set(['false', 'f', '0'])

/** A request whose body is the message. What the path says wins over the same field of the body. */
export function readBodyRequest<Desc extends DescMessage>(
  desc: Desc,
  body: unknown,
  path: PathValues,
  options: ReadOptions,
): MessageShape<Desc> {
  const bounded = { ...options, left: { elements: MAX_ELEMENTS } }
  return withPath(desc, path, () => readFields(desc, body === undefined ? {} : body, bounded, 0))
}

/** A request whose fields are query parameters. Parameters that no field is named after are ignored. */
export function readQueryRequest<Desc extends DescMessage>(
  desc: Desc,
  query: QueryValues,
  path: PathValues,
): MessageShape<Desc> {
  return withPath(desc, path, () => {
    const json: Record<string, unknown> = {}
    for (const field of desc.fields) {
      // Both: one that is given in two spellings must not be read by one of them alone.
      for (const name of [field.name, field.jsonName]) {
        const value = Object.hasOwn(query, name) ? query[name] : undefined
        if (value === undefined || field.fieldKind !== 'scalar') continue
        // `?pageSize=` says nothing, `?includeInput` says yes.
        if (value !== '' || field.scalar === ScalarType.BOOL) json[name] = fieldText(field, name, value)
      }
    }
    return readFields(desc, json, { shorthand: false }, 0)
  })
}

/** `?pretty&noPayloadShorthand`: a flag is set unless its value says otherwise. */
export function readFlags(query: QueryValues): TextOptions {
  return { shorthand: !hasFlag(query, 'noPayloadShorthand'), pretty: hasFlag(query, 'pretty') }
}

function hasFlag(query: QueryValues, name: string): boolean {
  const value = Object.hasOwn(query, name) ? query[name] : undefined
  return value !== undefined && !(typeof value === 'string' && NO.has(value.toLowerCase()))
}

/** What the path says wins over the same field of what was read. */
export function withPath<Desc extends DescMessage>(
  desc: Desc,
  path: PathValues,
  read: () => unknown,
): MessageShape<Desc> {
  try {
    const message = read() as MessageShape<Desc> & Record<string, unknown>
    for (const field of desc.fields) {
      const value = Object.hasOwn(path, field.localName) ? path[field.localName] : undefined
      if (value === undefined) continue
      if (!value.isWellFormed())
        throw withinField(new WireProblem('must be a text of whole Unicode characters'), field.name)
      ;(message as Record<string, unknown>)[field.localName] = value
    }
    return message
  } catch (error) {
    throw error instanceof WireProblem ? toInvalidArgument(error) : error
  }
}

function fieldText(field: DescField, name: string, value: string | readonly string[]): unknown {
  if (typeof value !== 'string') throw withinField(new WireProblem('is given more than once'), name)
  if (field.scalar === ScalarType.BOOL) return boolOf(value)
  // A plus sign that was not percent-encoded arrives as a space.
  return field.scalar === ScalarType.BYTES ? value.replaceAll(' ', '+') : value
}

/** What says neither is left to be refused. */
function boolOf(value: string): boolean | string {
  const word = value.toLowerCase()
  return YES.has(word) ? true : NO.has(word) ? false : value
}
