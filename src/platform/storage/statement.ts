import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Engine } from './engine.ts'
import type { Tables } from './tables.ts'

/**
 * A query that is compiled once per engine and kept. Kysely's compile step costs as much as SQLite's own work, so
 * the hot paths (look-up by id, claim, settle) are written as statements:
 *
 *   const userById = statement<{ id: string }, { email: string }>((query, p) =>
 *     query.selectFrom('users').select('email').where('id', '=', p('id')))
 *   const [user] = await db.run(userById, { id })
 */
export interface Statement<Input extends object, Row> {
  prepared(engine: Engine): PreparedStatement<Input>
  readonly __row?: Row
}

export interface PreparedStatement<Input extends object> {
  readonly sql: string
  /** Stable name, so that PostgreSQL keeps the plan. */
  readonly name: string
  bind(input: Input): unknown[]
}

class Placeholder {
  readonly key: PropertyKey
  constructor(key: PropertyKey) {
    this.key = key
  }
}

let nextName = 0

export function statement<Input extends object, Row = never>(
  build: (
    query: Kysely<Tables>,
    p: <K extends keyof Input>(key: K) => Input[K],
    engine: Engine,
  ) => Compilable | RawBuilder<unknown>,
): Statement<Input, Row> {
  const name = `s${++nextName}`
  const kept: Partial<Record<Engine, PreparedStatement<Input>>> = {}
  return {
    prepared(engine) {
      kept[engine] ??= prepare(
        build(COMPILERS[engine], (key) => new Placeholder(key) as never, engine),
        engine,
        name,
      )
      return kept[engine]
    },
  }
}

function prepare<Input extends object>(
  query: Compilable | RawBuilder<unknown>,
  engine: Engine,
  name: string,
): PreparedStatement<Input> {
  const { sql, parameters } = query.compile(COMPILERS[engine])
  return { sql, name, bind: binder(parameters) }
}

/**
 * Written for the members of one statement, which are ours. A function for all statements would meet inputs of every shape and
 * look each member up anew.
 */
function binder<Input extends object>(parameters: readonly unknown[]): (input: Input) => unknown[] {
  const values = parameters.map((value, at) =>
    value instanceof Placeholder ? `input[${JSON.stringify(value.key)}]` : `constants[${at}]`,
  )
  return new Function('constants', `return (input) => [${values.join(', ')}]`)(parameters)
}

const COMPILERS: Record<Engine, Kysely<Tables>> = {
  sqlite: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
}
