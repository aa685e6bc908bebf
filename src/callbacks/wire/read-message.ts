/**
 * The proto3 JSON mapping, inwards. Written here because the errors have to name the field as the caller wrote it, a
 * Payload may be written in short at any place, and numbers of 64 bits must not pass through a JavaScript number.
 */
import { create, type DescField, type DescMessage, type JsonObject, type Message } from '@bufbuild/protobuf'
import { AppError } from '../../platform/errors/app-error.ts'
import { MAX_DEPTH } from '../../platform/http/input/json-shape.ts'
import { TOO_MANY_ELEMENTS } from '../../platform/rpc/count-elements.ts'
import { readDuration } from './duration.ts'
import { isExactNumber } from './parse-json.ts'
import { isJsonObject, readShortPayload } from './payload-shorthand.ts'
import { enumReader, readString, SCALAR_READERS } from './read-scalar.ts'
import { setOwn } from './set-own.ts'
import { readTimestamp } from './timestamp.ts'
import { WireProblem, withinField, withinItem } from './wire-problem.ts'

export interface ReadOptions {
  /** Whether payloads may be written in short. */
  shorthand: boolean
  /** For what a caller sends: how many elements it may still have. A payload in short is one, whatever it holds. */
  left?: { elements: number }
}

type ReadValue = (json: unknown, options: ReadOptions, depth: number) => unknown

interface Member {
  field: DescField
  read: ReadValue
  /** Null is a value here where payloads may be written in short; anywhere else it is the same as nothing. */
  isPayload: boolean
  /** The lowerCamelCase name, for the member that is found under the name of the .proto file when the two differ. */
  otherName: string | undefined
}

const PAYLOAD = 'temporal.api.common.v1.Payload'
const PAYLOADS = 'temporal.api.common.v1.Payloads'

const known = new WeakMap<DescMessage, Map<string, Member>>()

/** Throws a WireProblem. */
export function readFields(desc: DescMessage, json: unknown, options: ReadOptions, depth: number): Message {
  if (depth > MAX_DEPTH) throw new WireProblem('is nested too deeply')
  if (!isJsonObject(json)) throw new WireProblem('must be a JSON object')
  const members = known.get(desc) ?? membersOf(desc)
  const message = create(desc) as Message & Record<string, unknown>
  const names = Object.keys(json)
  spend(names.length, options)
  for (const name of names) {
    const member = members.get(name)
    const value = json[name]
    try {
      if (member === undefined) throw new WireProblem('is not a known field')
      if (value === null && !(member.isPayload && options.shorthand)) continue
      if (member.otherName !== undefined && Object.hasOwn(json, member.otherName)) {
        throw new WireProblem(`and ${member.otherName} are the same field: give one of them`)
      }
      setMember(message, member.field, member.read(value, options, depth + 1))
    } catch (error) {
      throw withinField(error, name)
    }
  }
  return message
}

/** Before anything is made of them. */
function spend(elements: number, { left }: ReadOptions): void {
  if (left === undefined) return
  left.elements -= elements
  if (left.elements < 0) throw new AppError('invalid_argument', TOO_MANY_ELEMENTS)
}

function setMember(message: Record<string, unknown>, field: DescField, value: unknown): void {
  if (field.oneof === undefined) {
    message[field.localName] = value
    return
  }
  const { case: earlier } = message[field.oneof.localName] as { case: string | undefined }
  if (earlier !== undefined) throw new WireProblem(`excludes ${earlier}: give only one of them`)
  message[field.oneof.localName] = { case: field.localName, value }
}

function membersOf(desc: DescMessage): Map<string, Member> {
  const members = new Map<string, Member>()
  for (const field of desc.fields) {
    const read = fieldReader(field)
    const isPayload = field.fieldKind === 'message' && field.message.typeName === PAYLOAD
    const otherName = field.name === field.jsonName ? undefined : field.jsonName
    members.set(field.name, { field, read, isPayload, otherName })
    members.set(field.jsonName, { field, read, isPayload, otherName: undefined })
  }
  known.set(desc, members)
  return members
}

function fieldReader(field: DescField): ReadValue {
  switch (field.fieldKind) {
    case 'list':
      return listReader(valueReader(field))
    case 'map':
      return mapReader(valueReader(field))
    default:
      return valueReader(field)
  }
}

/** Of the field, of an item of the list or of a value of the map. */
function valueReader(field: DescField): ReadValue {
  if (field.message !== undefined) return messageReader(field.message)
  if (field.enum !== undefined) return enumReader(field.enum)
  const read = field.scalar === undefined ? undefined : SCALAR_READERS[field.scalar]
  if (read === undefined) throw new Error(`${field} is of a type that is not read from JSON`)
  return read
}

function messageReader(desc: DescMessage): ReadValue {
  switch (desc.typeName) {
    case 'google.protobuf.Timestamp':
      return readTimestamp
    case 'google.protobuf.Duration':
      return readDuration
    case 'google.protobuf.Struct':
      return readStruct
    case PAYLOAD:
      return (json, options, depth) =>
        (options.shorthand ? readShortPayload(json) : undefined) ?? readFields(desc, json, options, depth)
    case PAYLOADS:
      return (json, options, depth) =>
        // A list of values stands for the message around it.
        readFields(desc, options.shorthand && Array.isArray(json) ? { payloads: json } : json, options, depth)
    default:
      return (json, options, depth) => readFields(desc, json, options, depth)
  }
}

function listReader(readItem: ReadValue): ReadValue {
  return (json, options, depth) => {
    if (!Array.isArray(json)) throw new WireProblem('must be an array')
    spend(json.length, options)
    return json.map((item, index) => {
      try {
        return readItem(item, options, depth)
      } catch (error) {
        throw withinItem(error, index)
      }
    })
  }
}

function mapReader(readEntry: ReadValue): ReadValue {
  return (json, options, depth) => {
    if (!isJsonObject(json)) throw new WireProblem('must be a JSON object')
    const map: Record<string, unknown> = {}
    const keys = Object.keys(json)
    spend(keys.length, options)
    for (const key of keys) {
      try {
        setOwn(map, readString(key), readEntry(json[key], options, depth))
      } catch (error) {
        throw withinField(error, key)
      }
    }
    return map
  }
}

/** Generated messages hold a Struct as the JSON it is. */
function readStruct(json: unknown, _options: ReadOptions, depth: number): JsonObject {
  if (!isJsonObject(json)) throw new WireProblem('must be a JSON object')
  return plainJson(json, depth) as JsonObject
}

function plainJson(json: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new WireProblem('is nested too deeply')
  if (isExactNumber(json)) return Number(json.rawJSON)
  if (typeof json === 'string') return readString(json)
  if (Array.isArray(json)) return json.map((item) => plainJson(item, depth + 1))
  if (!isJsonObject(json)) return json
  const plain: Record<string, unknown> = {}
  for (const key of Object.keys(json)) setOwn(plain, readString(key), plainJson(json[key], depth + 1))
  return plain
}
