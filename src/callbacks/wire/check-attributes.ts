import { toBinary } from '@bufbuild/protobuf'
import { type Payload, PayloadSchema, type SearchAttributes } from '../../gen/temporal/api/common/v1/message_pb.js'
import { shortened } from '../../platform/text/shortened.ts'
import { type AttributeRow, attributeRows, readAttribute } from '../query/attribute-rows.ts'
import { type FieldType, isSystemField, SEARCH_ATTRIBUTE_TYPES } from '../query/fields.ts'
import type { CallbackPolicy } from '../settings.ts'
import { invalid } from './invalid.ts'
import { decodeText } from './parse-json.ts'

/** The search attributes that a namespace declares: name to type. */
export type AttributeTypes = Readonly<Record<string, string>>

const LONGEST_SHOWN = 130
// Lists show all of it for many runs at once.
const MOST_BESIDE_DATA = 64 * 1024

/** Rows 17 and 18 of the checks of Start. Answers the rows by which queries find the run. */
export function checkAttributes(
  attributes: SearchAttributes | undefined,
  types: AttributeTypes,
  limits: CallbackPolicy['search_attribute_limits'],
): AttributeRow[] {
  const entries = Object.entries(attributes?.indexedFields ?? {})
  checkSizes(entries, limits)
  return entries.flatMap(([name, payload]) => {
    const type = typeOf(name, types)
    const values = readAttribute(type, jsonOf(name, payload))
    if (values === undefined) throw invalid(`search attribute ${shown(name)} must have a value of the type ${type}`)
    return attributeRows(name, type, values)
  })
}

function checkSizes(entries: [string, Payload][], limits: CallbackPolicy['search_attribute_limits']): void {
  if (entries.length > limits.keys) {
    throw invalid(`search attributes have ${entries.length} keys, which exceeds the limit of ${limits.keys}`)
  }
  let total = 0
  for (const [name, { data }] of entries) {
    if (data.length > limits.value_bytes) {
      throw invalid(
        `search attribute ${shown(name)} has ${data.length} bytes, which exceeds the limit of ${limits.value_bytes}`,
      )
    }
    total += data.length
  }
  if (total > limits.total_bytes) {
    throw invalid(`search attributes have ${total} bytes in all, which exceeds the limit of ${limits.total_bytes}`)
  }
  const beside = entries.reduce((sum, [, payload]) => sum + toBinary(PayloadSchema, payload).length, -total)
  if (beside > MOST_BESIDE_DATA) {
    throw invalid(`search attributes have ${beside} bytes of metadata, which exceeds the limit of ${MOST_BESIDE_DATA}`)
  }
}

function typeOf(name: string, types: AttributeTypes): FieldType {
  if (isSystemField(name)) throw invalid(`search attribute ${shown(name)} is set by the server: choose another name`)
  const declared = Object.hasOwn(types, name) ? types[name] : undefined
  const type = SEARCH_ATTRIBUTE_TYPES.find((known) => known === declared)
  if (type === undefined) throw invalid(`search attribute ${shown(name)} is not defined in the namespace`)
  return type
}

function jsonOf(name: string, { metadata, data }: Payload): string {
  const encoding = Object.hasOwn(metadata, 'encoding') ? decodeText(metadata.encoding as Uint8Array) : undefined
  if (encoding === 'binary/null') return 'null'
  const json = encoding === 'json/plain' ? decodeText(data) : undefined
  if (json === undefined) throw invalid(`search attribute ${shown(name)} must be a json/plain payload`)
  return json
}

function shown(name: string): string {
  return JSON.stringify(shortened(name, LONGEST_SHOWN))
}
