/**
 * Bytes bound what a message costs the network, not what it costs us: an element of two bytes becomes an object. So the
 * elements are counted before anything is made of them, by going over no more of them than are allowed.
 */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { shapeProblem } from '../http/input/json-shape.ts'
import { withCommas } from '../text/with-commas.ts'

/** Fields that are set, items of lists and entries of maps, in all depths. */
export const MAX_ELEMENTS = 10_000

export const TOO_MANY_ELEMENTS =
  `The message has more than ${withCommas(MAX_ELEMENTS)} elements (fields, items of lists and entries of maps): ` +
  'put large results into the data of one payload'

const MAX_DEPTH = 100

class TooMany extends Error {}

/** False, too, for bytes that cannot be decoded: the decoder says what is wrong with them. */
export function hasTooManyElements(desc: DescMessage, bytes: Uint8Array): boolean {
  // An element has a tag at least.
  if (bytes.length <= MAX_ELEMENTS) return false
  try {
    new Count(bytes).message(desc, bytes.length, 0)
    return false
  } catch (error) {
    return error instanceof TooMany
  }
}

/**
 * Goes over the bytes exactly as the decoder does: a known field is read as what it is declared to be whatever its tag
 * says, and one that is longer than the message around it goes on behind its end.
 */
class Count {
  readonly #reader: BinaryReader
  #left = MAX_ELEMENTS

  constructor(bytes: Uint8Array) {
    this.#reader = new BinaryReader(bytes)
  }

  message(desc: DescMessage, length: number, depth: number): void {
    if (depth > MAX_DEPTH) throw new Error('nested too deeply')
    const reader = this.#reader
    const fields = fieldsOf(desc)
    const end = reader.pos + length
    while (reader.pos < end) {
      this.#spend()
      const [number, wireType] = reader.tag()
      const field = fields.get(number)
      if (field === undefined) this.#skip(wireType, number, depth)
      else if (field.fieldKind === 'map') this.#entry(field, depth)
      else this.#value(field, wireType, depth)
    }
  }

  #entry(field: DescField & { fieldKind: 'map' }, depth: number): void {
    const reader = this.#reader
    const length = reader.uint32()
    const end = reader.pos + length
    // The entry was counted; its key and its value are part of it.
    let parts = 0
    while (reader.pos < end) {
      if (++parts > 2) this.#spend()
      const [number, wireType] = reader.tag()
      if (number === 1) this.#scalar(field.mapKey)
      else if (number !== 2) this.#skip(wireType, number, depth)
      else if (field.mapKind === 'message') this.message(field.message, reader.uint32(), depth + 1)
      else this.#scalar(field.mapKind === 'enum' ? ScalarType.INT32 : field.scalar)
    }
  }

  #value(field: DescField, wireType: WireType, depth: number): void {
    if (field.message !== undefined) {
      if (isDelimited(field)) this.#skip(WireType.StartGroup, field.number, depth)
      else this.message(field.message, this.#reader.uint32(), depth + 1)
      return
    }
    const type = field.scalar ?? ScalarType.INT32
    const isPacked = field.fieldKind === 'list' && wireType === WireType.LengthDelimited && !hasLength(type)
    if (!isPacked) {
      this.#scalar(type)
      return
    }
    const length = this.#reader.uint32()
    const end = this.#reader.pos + length
    while (this.#reader.pos < end) {
      this.#spend()
      this.#scalar(type)
    }
  }

  #scalar(type: ScalarType): void {
    this.#reader.skip(hasLength(type) ? WireType.LengthDelimited : (FIXED[type] ?? WireType.Varint))
  }

  #skip(wireType: WireType, number: number, depth: number): void {
    if (wireType !== WireType.StartGroup) {
      this.#reader.skip(wireType, number)
      return
    }
    if (depth > MAX_DEPTH) throw new Error('nested too deeply')
    for (;;) {
      this.#spend()
      const [inner, innerType] = this.#reader.tag()
      if (innerType === WireType.EndGroup) return
      this.#skip(innerType, inner, depth + 1)
    }
  }

  #spend(): void {
    if (--this.#left < 0) throw new TooMany()
  }
}

const FIXED: Partial<Record<ScalarType, WireType>> = {
  [ScalarType.DOUBLE]: WireType.Bit64,
  [ScalarType.FIXED64]: WireType.Bit64,
  [ScalarType.SFIXED64]: WireType.Bit64,
  [ScalarType.FLOAT]: WireType.Bit32,
  [ScalarType.FIXED32]: WireType.Bit32,
  [ScalarType.SFIXED32]: WireType.Bit32,
}

function hasLength(type: ScalarType): boolean {
  return type === ScalarType.STRING || type === ScalarType.BYTES
}

function isDelimited(field: DescField): boolean {
  return 'delimitedEncoding' in field && field.delimitedEncoding === true
}

const known = new WeakMap<DescMessage, Map<number, DescField>>()

function fieldsOf(desc: DescMessage): Map<number, DescField> {
  let fields = known.get(desc)
  if (fields === undefined) {
    fields = new Map(desc.fields.map((field) => [field.number, field]))
    known.set(desc, fields)
  }
  return fields
}

/** The same of JSON. How deep it is, is for its decoder to say. */
export function hasTooManyJsonElements(json: Uint8Array): boolean {
  return shapeProblem(json, { maxDepth: Number.POSITIVE_INFINITY, maxValues: MAX_ELEMENTS }) !== undefined
}
