/**
 * The portable backup: gzip over JSON lines, the same from either engine and into either.
 *
 *   {"format":"commonplace-dump","version":1,"schema":1,"migrations":["foundation"],"created":…,"engine":"sqlite"}
 *   {"table":"users","columns":["id",…],"identity":null}
 *   ["0190…",…]                                    one array per row, in the order of the columns
 *   {"end":true,"tables":{"users":12,…},"sha256":…}  over every byte before this line
 *
 * A file without its last line was cut off, whatever gzip says about it.
 */
import type { Engine } from '../storage/engine.ts'

export const DUMP_FORMAT = 'commonplace-dump'
export const DUMP_VERSION = 1
export const TRAILER_START = '{"end":'

export interface DumpHeader {
  format: typeof DUMP_FORMAT
  version: number
  /** Number of the newest migration of the database it was made from, and the names of all. */
  schema: number
  migrations: string[]
  created: string
  engine: Engine
}

export interface DumpTable {
  table: string
  columns: string[]
  /** The counter of the table, so that a number once given is not given again after a restore. */
  identity: { column: string; last: number } | null
}

export interface DumpTrailer {
  end: true
  tables: Record<string, number>
  sha256: string
}

export type Value = null | string | number | Uint8Array
type Encoded = null | string | number | { b: string } | { f: string }

export function encodeValue(value: unknown): Encoded {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : { f: String(value) }
  if (value instanceof Uint8Array) {
    return { b: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
  }
  throw new TypeError(`A dump cannot carry a value of type ${typeof value}`)
}

/** Undefined for what no dump of ours contains. */
export function decodeValue(encoded: unknown): Value | undefined {
  if (encoded === null || typeof encoded === 'string' || typeof encoded === 'number') return encoded
  if (typeof encoded !== 'object') return undefined
  const { b, f } = encoded as { b?: unknown; f?: unknown }
  if (typeof b === 'string') return Buffer.from(b, 'base64')
  return typeof f === 'string' ? Number(f) : undefined
}
