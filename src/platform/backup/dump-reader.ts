import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { damaged, notABackup, unreadable } from './backup-errors.ts'
import { firstDifference, type RowCounts } from './count-rows.ts'
import {
  DUMP_FORMAT,
  DUMP_VERSION,
  type DumpHeader,
  type DumpTable,
  type DumpTrailer,
  decodeValue,
  TRAILER_START,
  type Value,
} from './dump-format.ts'
import { splitLines } from './split-lines.ts'

const TRAILER_BYTES = Buffer.from(TRAILER_START)
const BATCH_ROWS = 500
const BATCH_BYTES = 1024 * 1024

export type DumpEvent =
  | { kind: 'header'; header: DumpHeader }
  | { kind: 'table'; table: DumpTable }
  | { kind: 'rows'; table: DumpTable; rows: Value[][] }
  /** The last one: everything was read and is whole. */
  | { kind: 'end'; counts: RowCounts }

export interface ReadDumpOptions {
  /** In bytes of the file. */
  onProgress?: (done: number, total: number) => void
}

/** Reads a dump in bounded memory. Throws for a damaged one, at the latest instead of the `end` event. */
export async function* readDump(file: string, options: ReadDumpOptions = {}): AsyncGenerator<DumpEvent> {
  const source = createReadStream(file)
  const gunzip = createGunzip()
  // Its failure arrives through the loop below; here it only must not count as unhandled.
  const feeding = pipeline(source, gunzip).catch(() => {})
  try {
    const { size } = await stat(file)
    for await (const event of eventsOf(file, splitLines(gunzip))) {
      options.onProgress?.(source.bytesRead, size)
      yield event
    }
  } catch (error) {
    throw explain(file, error)
  } finally {
    source.destroy()
    gunzip.destroy()
    await feeding
  }
}

/** Only the first line. */
export async function readDumpHeader(file: string): Promise<DumpHeader> {
  for await (const event of readDump(file)) if (event.kind === 'header') return event.header
  throw notABackup(file)
}

async function* eventsOf(file: string, lines: AsyncGenerator<Buffer>): AsyncGenerator<DumpEvent> {
  const hash = createHash('sha256')
  const counts: RowCounts = {}
  const first = await lines.next()
  if (first.done) throw notABackup(file)
  yield { kind: 'header', header: readHeader(file, first.value) }
  hash.update(first.value).update('\n')
  let table: DumpTable | undefined
  let rows: Value[][] = []
  let bytes = 0
  for await (const line of lines) {
    if (isRow(line)) {
      if (table === undefined) throw damaged(file, 'a row comes before the first table')
      rows.push(readRow(file, table, line))
      counts[table.table] = (counts[table.table] ?? 0) + 1
      bytes += line.length
    }
    if (table !== undefined && rows.length > 0 && (!isRow(line) || rows.length >= BATCH_ROWS || bytes >= BATCH_BYTES)) {
      yield { kind: 'rows', table, rows }
      rows = []
      bytes = 0
    }
    if (isTrailer(line)) {
      await checkTrailer(file, readTrailer(file, line), { counts, sha256: hash.digest('hex'), rest: lines })
      yield { kind: 'end', counts }
      return
    }
    if (!isRow(line)) {
      table = readTable(file, line)
      counts[table.table] = 0
      yield { kind: 'table', table }
    }
    hash.update(line).update('\n')
  }
  throw damaged(file, 'its end is missing')
}

async function checkTrailer(
  file: string,
  trailer: DumpTrailer,
  found: { counts: RowCounts; sha256: string; rest: AsyncGenerator<Buffer> },
): Promise<void> {
  if (trailer.sha256 !== found.sha256) throw damaged(file, 'its checksum is wrong')
  const difference = firstDifference(trailer.tables, found.counts)
  if (difference !== undefined) throw damaged(file, difference)
  // Reading on to the end also lets gzip check its own sum.
  if (!(await found.rest.next()).done) throw damaged(file, 'something follows its last line')
}

function parse(file: string, line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    throw damaged(file, 'a line of it is not JSON')
  }
}

function readHeader(file: string, line: Buffer): DumpHeader {
  let header: Partial<DumpHeader> | null
  try {
    header = JSON.parse(line.toString('utf8'))
  } catch {
    throw notABackup(file)
  }
  if (header?.format !== DUMP_FORMAT) throw notABackup(file)
  if (typeof header.version !== 'number' || header.version > DUMP_VERSION) {
    throw unreadable(
      `The backup ${file} has format ${header.version}, this version of Commonplace reads ${DUMP_VERSION}: ` +
        'restore it with the version that made it',
    )
  }
  if (!Number.isSafeInteger(header.schema) || !isTexts(header.migrations))
    throw damaged(file, 'its first line is incomplete')
  return header as DumpHeader
}

function readTable(file: string, line: Buffer): DumpTable {
  const value = parse(file, line) as Partial<DumpTable> | null
  if (typeof value?.table !== 'string' || !isTexts(value.columns)) throw damaged(file, 'a line of it has no meaning')
  const { column, last } = value.identity ?? {}
  const hasCounter = typeof column === 'string' && Number.isSafeInteger(last)
  return { table: value.table, columns: value.columns, identity: hasCounter ? { column, last: last as number } : null }
}

function readRow(file: string, table: DumpTable, line: Buffer): Value[] {
  const row = (parse(file, line) as unknown[]).map(decodeValue)
  if (row.length !== table.columns.length || row.includes(undefined)) {
    throw damaged(file, `a row of table ${table.table} is malformed`)
  }
  return row as Value[]
}

function readTrailer(file: string, line: Buffer): DumpTrailer {
  const { tables, sha256 } = parse(file, line) as Partial<DumpTrailer>
  if (typeof tables !== 'object' || tables === null || typeof sha256 !== 'string') {
    throw damaged(file, 'its last line is malformed')
  }
  return { end: true, tables, sha256 }
}

function isRow(line: Buffer): boolean {
  return line[0] === 0x5b
}

function isTrailer(line: Buffer): boolean {
  return line.subarray(0, TRAILER_START.length).equals(TRAILER_BYTES)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function explain(file: string, error: unknown): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'Z_BUF_ERROR':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return damaged(file, 'its end is missing', error)
    case 'Z_DATA_ERROR':
      return damaged(file, 'it cannot be unpacked', error)
    default:
      return error
  }
}
