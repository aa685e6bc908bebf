import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { AppError } from '../../../platform/errors/app-error.ts'

// As tools/embedding/export.py writes it.
const MAGIC = 'CPTOKENS'
const FORMAT = 1
const HASH_AT = 32
const BODY_AT = 64
const LARGEST_VOCABULARY = 4_000_000

export interface TokenTable {
  /** Changes with every byte of the model: vectors of another one cannot be compared. */
  version: string
  dimensions: number
  /** A token that occurs n times in a text counts n ** (1 - damping) times. */
  damping: number
  /** By token id. */
  vocabulary: string[]
  /** By token id: what the row's numbers are to be multiplied with. */
  scales: Float32Array
  /** One after the other, `dimensions` numbers each. */
  rows: Int8Array
}

/** How much of the file's beginning says what `ModelHeader` does. */
export const HEADER_BYTES = BODY_AT

export type ModelHeader = Pick<TokenTable, 'version' | 'dimensions'>

/** Without reading the table; whether that is whole is not asked here. */
export function readModelHeader(bytes: Uint8Array, name: string): ModelHeader {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.length < BODY_AT || file.toString('latin1', 0, 8) !== MAGIC) throw damaged(name, 'is no model file')
  if (file.readUInt32LE(8) !== FORMAT) throw damaged(name, 'has a format that this version does not read')
  return { version: `${FORMAT}-${file.toString('hex', HASH_AT, HASH_AT + 6)}`, dimensions: file.readUInt32LE(16) }
}

export function readModelFile(bytes: Uint8Array, name: string): TokenTable {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { version, dimensions } = readModelHeader(bytes, name)
  const [count, packed] = [file.readUInt32LE(12), file.readUInt32LE(20)]
  const scalesAt = BODY_AT + packed
  const rowsAt = scalesAt + 4 * count
  if (file.length !== rowsAt + count * dimensions) throw damaged(name, 'is cut short')
  const hash = createHash('sha256').update(file.subarray(BODY_AT)).digest()
  if (!hash.equals(file.subarray(HASH_AT, BODY_AT))) throw damaged(name, 'does not match its own hash')
  const vocabulary = inflateSync(file.subarray(BODY_AT, scalesAt), { maxOutputLength: LARGEST_VOCABULARY })
    .toString('utf8')
    .split('\n')
  if (vocabulary.length !== count) throw damaged(name, 'has a vocabulary of another size than its table')
  return {
    version,
    dimensions,
    damping: file.readFloatLE(24),
    vocabulary,
    scales: Float32Array.from({ length: count }, (_, id) => file.readFloatLE(scalesAt + 4 * id)),
    rows: new Int8Array(file.buffer, file.byteOffset + rowsAt, count * dimensions),
  }
}

function damaged(name: string, what: string): AppError {
  return new AppError('internal', `The built-in embedding model ${name} ${what}; install the server again.`)
}
