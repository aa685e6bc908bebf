import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { QueryResult } from 'kysely'
import { type RowMaker, rowMaker } from './row-maker.ts'

interface CachedStatement {
  statement: StatementSync
  columns: number
  /** Of a statement that stays, and is worth it. */
  makeRows?: RowMaker
}

// One connection meets a few hundred different texts; dynamic filters must not grow the cache without end.
const STATEMENT_CACHE_SIZE = 500

// Readers wait for nobody but a process that repairs the log after a crash; at the opening, others may be opening, too.
const READ_WAIT_MS = 50
const OPEN_WAIT_MS = 5_000

// Of pages; what does not fit comes from the memory of the operating system.
const CACHE_KIB = 65_536

interface ConnectionOptions {
  readOnly: boolean
  cacheKib?: number
}

/** One SQLite connection with prepared statements kept by their text, least recently used dropped first. */
export class SqliteConnection {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, CachedStatement>()
  #attached: ReadonlyMap<string, string> = new Map()

  constructor(file: string, options: ConnectionOptions) {
    this.#db = new DatabaseSync(file, {
      readOnly: options.readOnly,
      enableForeignKeyConstraints: true,
      timeout: options.readOnly ? READ_WAIT_MS : OPEN_WAIT_MS,
    })
    try {
      this.#setUp(options)
    } catch (error) {
      // Nobody else knows of it, and its file would stay open until the process ends.
      this.#db.close()
      throw error
    }
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction
  }

  get handle(): DatabaseSync {
    return this.#db
  }

  execute(sql: string, parameters: readonly unknown[]): QueryResult<unknown> {
    const entry = this.#prepare(sql)
    if (entry.columns > 0) return { rows: allRows(entry, parameters) }
    const { changes, lastInsertRowid } = entry.statement.run(...(parameters as SQLInputValue[]))
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  /** The same without the counts, for statements on hot paths. */
  rows(sql: string, parameters: readonly unknown[]): unknown[] {
    const entry = this.#prepare(sql)
    if (entry.columns === 0) {
      entry.statement.run(...(parameters as SQLInputValue[]))
      return []
    }
    if (entry.makeRows === undefined) {
      entry.statement.setReturnArrays(true)
      entry.makeRows = makerFor(entry.statement)
    }
    return allRows(entry, parameters)
  }

  /** How many rows the statement changed. */
  change(sql: string, parameters: readonly unknown[]): number {
    return Number(this.#prepare(sql).statement.run(...(parameters as SQLInputValue[])).changes)
  }

  /** The same where nobody needs to know: Node makes an object of the counts, which costs a fifth of a short row. */
  send(sql: string, parameters: readonly unknown[]): void {
    this.#prepare(sql).statement.get(...(parameters as SQLInputValue[]))
  }

  /** The number of the row that the statement inserted. */
  insert(sql: string, parameters: readonly unknown[]): number {
    return Number(this.#prepare(sql).statement.run(...(parameters as SQLInputValue[])).lastInsertRowid)
  }

  /** Rows as they are read; holds a statement of its own, so other queries may run between two of them. */
  *iterate(sql: string, parameters: readonly unknown[]): Generator<unknown> {
    yield* this.#db.prepare(sql).iterate(...(parameters as SQLInputValue[]))
  }

  /** Makes the tables of these files readable beside its own, by their names, and those of no others. The same map: as it is. */
  attach(files: ReadonlyMap<string, string>): void {
    if (files === this.#attached) return
    for (const name of this.#attached.keys()) this.#db.exec(`detach database ${name}`)
    this.#attached = new Map()
    for (const [name, file] of files) this.#db.prepare(`attach database ? as ${name}`).run(file)
    this.#attached = files
  }

  #setUp({ readOnly, cacheKib = CACHE_KIB }: ConnectionOptions): void {
    if (!readOnly) {
      this.#db.exec('pragma journal_mode = wal')
      // Every commit of the log is an fsync; the writer of the database does better.
      this.#db.exec('pragma synchronous = full')
      // Anonymization promises that no byte of a person stays behind.
      this.#db.exec('pragma secure_delete = on')
      this.#db.exec('pragma journal_size_limit = 67108864')
      // Pages that change again and again are copied into the file once in so many: as many as the limit above holds.
      this.#db.exec('pragma wal_autocheckpoint = 16000')
      // From here on waiting is the writer's: inside SQLite it would stop the event loop.
      this.#db.exec('pragma busy_timeout = 0')
    }
    this.#db.exec(`pragma cache_size = -${cacheKib}`)
    this.#db.exec('pragma temp_store = memory')
  }

  #prepare(sql: string): CachedStatement {
    const cached = this.#statements.get(sql)
    if (cached !== undefined) {
      if (this.#statements.size > STATEMENT_CACHE_SIZE / 2) {
        this.#statements.delete(sql)
        this.#statements.set(sql, cached)
      }
      return cached
    }
    const statement = this.#db.prepare(sql)
    const entry: CachedStatement = { statement, columns: statement.columns().length }
    this.#statements.set(sql, entry)
    if (this.#statements.size > STATEMENT_CACHE_SIZE) {
      this.#statements.delete(this.#statements.keys().next().value as string)
    }
    return entry
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }
}

function makerFor(statement: StatementSync): RowMaker {
  return rowMaker(statement.columns().map(({ name }) => name))
}

function allRows(entry: CachedStatement, parameters: readonly unknown[]): unknown[] {
  const rows = entry.statement.all(...(parameters as SQLInputValue[]))
  if (entry.makeRows === undefined) return rows
  const values = rows as unknown as unknown[][]
  const width = values[0]?.length ?? entry.columns
  if (width !== entry.columns) {
    // `select *` of a table that has got columns meanwhile.
    entry.columns = width
    entry.makeRows = makerFor(entry.statement)
  }
  return entry.makeRows(values)
}
