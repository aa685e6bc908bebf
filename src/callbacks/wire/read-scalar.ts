import { type DescEnum, ScalarType } from '@bufbuild/protobuf'
import { isInt64 } from '../query/int64.ts'
import { isExactNumber } from './parse-json.ts'
import { WireProblem } from './wire-problem.ts'

export type ReadScalar = (json: unknown) => unknown

const NUMBER = /^-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/
const WHOLE = /^-?\d{1,20}$/
const BASE64 = /^[A-Za-z0-9+/_-]*(={0,2})$/
const LEAST_INT32 = -2_147_483_648
const MOST_INT32 = 2_147_483_647
const SPECIAL_DOUBLES = new Set(['NaN', 'Infinity', '-Infinity'])

/** By type; those that no message of ours has are left out. */
export const SCALAR_READERS: Partial<Record<ScalarType, ReadScalar>> = {
  [ScalarType.STRING]: readString,
  [ScalarType.BOOL]: readBool,
  [ScalarType.INT32]: readInt32,
  [ScalarType.INT64]: readInt64,
  [ScalarType.DOUBLE]: readDouble,
  [ScalarType.BYTES]: readBytes,
}

export function readString(json: unknown): string {
  if (typeof json !== 'string') throw new WireProblem('must be a text')
  if (!json.isWellFormed()) throw new WireProblem('must be a text of whole Unicode characters')
  return json
}

function readBool(json: unknown): boolean {
  if (typeof json !== 'boolean') throw new WireProblem('must be true or false')
  return json
}

function readInt32(json: unknown): number {
  const value = wholeNumber(json)
  if (value === undefined || value < LEAST_INT32 || value > MOST_INT32) {
    throw new WireProblem('must be a whole number of 32 bits')
  }
  return Number(value)
}

function readInt64(json: unknown): bigint {
  const value = wholeNumber(json)
  if (value === undefined || !isInt64(value)) throw new WireProblem('must be a whole number of 64 bits')
  return value
}

function readDouble(json: unknown): number {
  const text = numberText(json)
  if (text !== undefined && SPECIAL_DOUBLES.has(text) && typeof json === 'string') return Number(text)
  const value = text !== undefined && NUMBER.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) throw new WireProblem('must be a number')
  return value
}

/** Both alphabets, with or without padding. */
function readBytes(json: unknown): Uint8Array {
  const padding = typeof json === 'string' ? BASE64.exec(json)?.[1]?.length : undefined
  if (padding === undefined || !hasWholeBytes((json as string).length, padding)) throw new WireProblem('must be base64')
  return plainBytes(Buffer.from(json as string, 'base64'))
}

function hasWholeBytes(length: number, padding: number): boolean {
  return padding === 0 ? length % 4 !== 1 : length % 4 === 0
}

/** The same bytes without the ways of a Buffer, as generated messages have them. */
export function plainBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}

/** A name or a number; a number that a later version added is kept. */
export function enumReader(desc: DescEnum): ReadScalar {
  const numbers = new Map(desc.values.map(({ name, number }) => [name, number]))
  return (json) => {
    const known = typeof json === 'string' ? numbers.get(json) : undefined
    if (known !== undefined) return known
    if (typeof json === 'string') throw new WireProblem(`must be one of the names of ${desc.name}, or a number`)
    return readInt32(json)
  }
}

function wholeNumber(json: unknown): bigint | undefined {
  const text = numberText(json)
  if (text === undefined) return undefined
  if (WHOLE.test(text)) return BigInt(text)
  // 1.0 and 1e3 are whole numbers, too.
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? BigInt(value) : undefined
}

function numberText(json: unknown): string | undefined {
  if (typeof json === 'string') return json
  if (typeof json === 'number') return String(json)
  return isExactNumber(json) ? json.rawJSON : undefined
}
