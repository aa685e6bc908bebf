/**
 * What SQLite leaves behind. `secure_delete` overwrites what is deleted, but two kinds of copies escape it:
 *
 * - the write-ahead log keeps old versions of pages until it is overwritten;
 * - when a page of a tree is split, the rows that move to its neighbour may stay behind in the unused middle of the
 *   old page, between the list of its cells and the cells (about one row in a thousand, measured).
 *
 * So the log is emptied, then the file is read from end to end, and the unused middles are overwritten. They are
 * written past SQLite, which has no way to ask for it. That is safe: the bytes mean nothing to it, so a crash at any
 * moment leaves a valid file; the write lock is held and the log is empty, so nobody writes the same page; and our
 * own writer forgets its cached pages, which would bring the bytes back.
 */
import { closeSync, fdatasync, fstatSync, openSync, read, readSync, statSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Clock, sleep } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteWriter } from './sqlite-writer.ts'
import { isSqliteBusy } from './storage-errors.ts'

const CHUNK_BYTES = 1024 * 1024
const ZEROS = Buffer.alloc(65_536)
/** One turn of the writer: a few milliseconds. */
const PAGES_PER_TURN = 256
const PATIENCE_MS = 2_000
const RETRY_MS = 20

// The first byte of a page of a tree. Every other page begins with a page number, which is smaller than 2^25 in a file
// of less than 128 GiB, so its first byte is none of these.
const LEAF_TYPES = new Set([10, 13])
const INNER_TYPES = new Set([2, 5])
const LARGEST_PAGE_COUNT = 2 ** 25

interface Shape {
  pageSize: number
  /** Of a page, without what is reserved at its end. */
  usable: number
  pageCount: number
}

const BUSY = Symbol('busy')

export class SqliteTraces {
  readonly #file: string
  readonly #writer: SqliteWriter
  readonly #clock: Clock
  #descriptor: number | undefined
  #closed = false
  #running: Promise<void> = Promise.resolve()

  constructor(file: string, writer: SqliteWriter, clock: Clock) {
    this.#file = file
    this.#writer = writer
    this.#clock = clock
  }

  /** One at a time; the next looks again, since it may be asked for something newer. */
  erase(): Promise<void> {
    const run = this.#running.catch(() => {}).then(() => this.#erase())
    this.#running = run
    return run
  }

  // NOTE Only after every connection is closed: closing any descriptor of a file drops the locks that this process
  // holds on it.
  async close(): Promise<void> {
    this.#closed = true
    await this.#running.catch(() => {})
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }

  async #erase(): Promise<void> {
    await this.#whenQuiet(emptyLog)
    this.#descriptor ??= openSync(this.#file, 'r+')
    const descriptor = this.#descriptor
    const shape = shapeOf(descriptor)
    for await (const pages of this.#stalePages(descriptor, shape)) {
      await this.#whenQuiet((connection) => this.#wipe(connection, descriptor, shape, pages))
    }
    await promisify(fdatasync)(descriptor)
  }

  /** Pages whose unused middle holds something. The first page is the schema, and has another form. */
  async *#stalePages(descriptor: number, shape: Shape): AsyncGenerator<number[]> {
    const { pageSize, pageCount } = shape
    const perChunk = Math.max(1, Math.floor(CHUNK_BYTES / pageSize))
    const chunk = Buffer.alloc(perChunk * pageSize)
    const readChunk = promisify(read)
    const found: number[] = []
    for (let first = 2; first <= pageCount; first += perChunk) {
      if (this.#closed) throw new AppError('unavailable', 'The database is closed')
      const { bytesRead } = await readChunk(descriptor, chunk, 0, chunk.length, (first - 1) * pageSize)
      for (let index = 0; (index + 1) * pageSize <= bytesRead; index++) {
        const gap = gapOf(chunk.subarray(index * pageSize, (index + 1) * pageSize), shape)
        if (gap !== undefined) found.push(first + index)
      }
      while (found.length >= PAGES_PER_TURN) yield found.splice(0, PAGES_PER_TURN)
    }
    if (found.length > 0) yield found
  }

  #wipe(connection: SqliteConnection, descriptor: number, shape: Shape, pages: readonly number[]): void {
    emptyLog(connection)
    connection.execute('begin immediate', [])
    try {
      // Another process may have written in between.
      if (statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size) throw BUSY
      const page = Buffer.alloc(shape.pageSize)
      for (const number of pages) {
        const at = (number - 1) * shape.pageSize
        if (readSync(descriptor, page, 0, shape.pageSize, at) !== shape.pageSize) continue
        const gap = gapOf(page, shape)
        if (gap !== undefined) writeSync(descriptor, ZEROS, 0, gap.end - gap.start, at + gap.start)
      }
    } finally {
      connection.execute('rollback', [])
      connection.execute('pragma shrink_memory', [])
    }
  }

  async #whenQuiet(work: (connection: SqliteConnection) => void): Promise<void> {
    const giveUpAt = this.#clock.elapsedMs() + PATIENCE_MS
    for (;;) {
      try {
        return await this.#writer.between(work)
      } catch (error) {
        if (error !== BUSY && !isSqliteBusy(error)) throw error
        if (this.#clock.elapsedMs() > giveUpAt) {
          throw new AppError('unavailable', 'The log of the database cannot be emptied while others read from it')
        }
        await sleep(this.#clock, RETRY_MS)
      }
    }
  }
}

/** Everything in the log goes into the file; needs a moment in which nobody reads. */
function emptyLog(connection: SqliteConnection): void {
  const [row] = connection.execute('pragma wal_checkpoint(truncate)', []).rows as { busy: number }[]
  if (row?.busy !== 0) throw BUSY
}

function shapeOf(descriptor: number): Shape {
  const header = Buffer.alloc(100)
  readSync(descriptor, header, 0, header.length, 0)
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const pageCount = Math.floor(fstatSync(descriptor).size / pageSize)
  // With auto-vacuum some pages are lists of pointers, whose first byte can look like that of a tree.
  if (header.readUInt32BE(52) !== 0) {
    throw new AppError(
      'failed_precondition',
      'The database file was switched to auto-vacuum: switch it off and run VACUUM',
    )
  }
  if (pageCount >= LARGEST_PAGE_COUNT) {
    throw new AppError('failed_precondition', 'The database file is too large to be cleaned: use PostgreSQL')
  }
  return { pageSize, usable: pageSize - header.readUInt8(20), pageCount }
}

/** The unused middle of a page of a tree, unless it is empty or clean. */
function gapOf(page: Buffer, { usable }: Shape): { start: number; end: number } | undefined {
  const type = page[0] as number
  if (!LEAF_TYPES.has(type) && !INNER_TYPES.has(type)) return undefined
  const cells = page.readUInt16BE(3)
  const start = (LEAF_TYPES.has(type) ? 8 : 12) + 2 * cells
  const end = page.readUInt16BE(5) || 65_536
  if (end > usable || start >= end) return undefined
  return page.compare(ZEROS, 0, end - start, start, end) === 0 ? undefined : { start, end }
}
