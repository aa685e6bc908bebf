// Rows that are looked up one by one. Where PostgreSQL thinks that a project has few rows, it would rather read all of them, and
// compare each with each; what has a limit or an offset of its own it cannot join in another way. SQLite does as it is told.
import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'

interface LookUp {
  table: string
  as: string
  on: RawBuilder<unknown>
}

/** A join with the one row that fits what stands before it. */
export function lookUp(engine: Engine, one: LookUp): RawBuilder<unknown> {
  const { table, as, on } = one
  return engine === 'sqlite'
    ? sql`cross join ${sql.table(table)} as ${sql.ref(as)} on ${on}`
    : sql`cross join lateral ${theOne(one)}`
}

/** The same, with nulls where none fits. */
export function lookUpOrNull(engine: Engine, one: LookUp): RawBuilder<unknown> {
  const { table, as, on } = one
  return engine === 'sqlite'
    ? sql`left join ${sql.table(table)} as ${sql.ref(as)} on ${on}`
    : sql`left join lateral ${theOne(one)} on true`
}

function theOne({ table, as, on }: LookUp): RawBuilder<unknown> {
  return sql`(select * from ${sql.table(table)} as ${sql.ref(as)} where ${on} limit 1) as ${sql.ref(as)}`
}

interface Listed {
  table: string
  column: string
  /** A query in brackets, as for `in`. */
  list: RawBuilder<unknown>
  /** What else holds of the rows. */
  where: RawBuilder<unknown>
}

/** `from` the rows of a table in which a column is one of a list, each row once. */
export function fromListed(engine: Engine, { table, column, list, where }: Listed): RawBuilder<unknown> {
  const [rows, key] = [sql.table(table), sql.ref(column)]
  return engine === 'sqlite'
    ? sql`from ${rows} where ${where} and ${key} in ${list}`
    : sql`from (select distinct listed from ${list} as list (listed)) as wanted
      cross join lateral (select * from ${rows} where ${where} and ${key} = wanted.listed offset 0) as ${rows}`
}

/** A text that rows are compared by and not found by: where several indexes seem to find one row, PostgreSQL takes any of them. */
export function unindexed(engine: Engine, column: string): RawBuilder<string> {
  return engine === 'sqlite' ? sql<string>`+${sql.ref(column)}` : sql<string>`(${sql.ref(column)} || '')`
}

/**
 * As a limit for rows in the order of an index. Where PostgreSQL expects fewer than that, it would read all of them and sort them; of a
 * limit that it does not know when it plans it expects that it ends the look early.
 */
export function unplanned(engine: Engine, limit: number | RawBuilder<unknown>): RawBuilder<number> {
  return engine === 'sqlite' ? sql<number>`${limit}` : sql<number>`(select cast(${limit} as bigint))`
}
