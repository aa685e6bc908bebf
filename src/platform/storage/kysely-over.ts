import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Engine } from './engine.ts'
import type { Tables } from './tables.ts'

/** Runs one compiled query. What is behind it (the writer, a snapshot, a pool) is the caller's matter. */
export interface QueryRunner {
  execute(sql: string, parameters: readonly unknown[]): Promise<QueryResult<unknown>>
  /** Row by row, for answers that must not be built in memory. */
  stream(sql: string, parameters: readonly unknown[], chunkSize: number): AsyncIterableIterator<QueryResult<unknown>>
}

/**
 * Kysely as a query builder over a runner of ours. Transactions belong to `Database.write`, so the driver's own are
 * refused: a `query.transaction()` would escape the group commit on SQLite and the retries on PostgreSQL.
 */
export function kyselyOver(engine: Engine, runner: QueryRunner): Kysely<Tables> {
  const driver = new RunnerDriver(runner)
  return new Kysely<Tables>({
    dialect:
      engine === 'sqlite'
        ? {
            createAdapter: () => new SqliteAdapter(),
            createDriver: () => driver,
            createIntrospector: (db) => new SqliteIntrospector(db),
            createQueryCompiler: () => new SqliteQueryCompiler(),
          }
        : {
            createAdapter: () => new PostgresAdapter(),
            createDriver: () => driver,
            createIntrospector: (db) => new PostgresIntrospector(db),
            createQueryCompiler: () => new PostgresQueryCompiler(),
          },
  })
}

class RunnerDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(runner: QueryRunner) {
    this.#connection = {
      executeQuery: <R>(query: CompiledQuery) => runner.execute(query.sql, query.parameters) as Promise<QueryResult<R>>,
      streamQuery: <R>(query: CompiledQuery, chunkSize?: number) =>
        runner.stream(query.sql, query.parameters, chunkSize ?? 500) as AsyncIterableIterator<QueryResult<R>>,
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    throw new Error('Open transactions with Database.write or Database.read')
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
