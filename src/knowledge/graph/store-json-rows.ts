/**
 * The database writes the JSON of many rows as one text: an object for each row, and text of each object, would take
 * three times as long. SQLite answers with bytes, which go to the caller as they are.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Engine } from '../../platform/storage/engine.ts'
import type { Statement } from '../../platform/storage/statement.ts'
import { cutColumn } from '../note/store-shown.ts'
import type { Chunk } from '../snapshot/snapshot-stream.ts'

/** Rows as JSON, each behind a comma. */
export interface JsonRows {
  text: Chunk
  count: number
}

export interface RawJsonRows {
  text: Chunk | null
  count: number
}

export type Parameter<Input> = <K extends keyof Input>(key: K) => Input[K]

/** What is shown of a column, as a JSON text. */
export function quoted(engine: Engine, column: string): RawBuilder<string> {
  const text = cutColumn(column)
  return engine === 'sqlite' ? sql`json_quote(${text})` : sql`to_json(${text})::text`
}

/** Whether a column is one of the texts of a JSON array. Notes come by their paths, so no index of types is wanted. */
export function isOfType(engine: Engine, column: string, typeKeys: string): RawBuilder<boolean> {
  return engine === 'sqlite'
    ? sql`+${sql.ref(column)} in (select value from json_each(${typeKeys}))`
    : sql`${sql.ref(column)} = any(array(select json_array_elements_text(${typeKeys}::json)))`
}

/** Of the subquery `rows`, in which `row` is the text and `place` the order. */
export function joined(engine: Engine): RawBuilder<string> {
  // SQLite keeps the order of a subquery that has a limit; asked for it, it would sort once more.
  return engine === 'sqlite' ? sql`cast(group_concat(row, '') as blob)` : sql`string_agg(row, '' order by place)`
}

export function placeBy(engine: Engine, ...columns: string[]): RawBuilder<unknown> {
  if (engine === 'sqlite') return sql``
  return sql`, row_number() over (order by ${sql.join(columns.map((column) => sql.ref(column)))}) as place`
}

export function rowsOf(row: RawJsonRows | undefined): JsonRows {
  return { text: row?.text ?? '', count: row?.count ?? 0 }
}

/** One statement for each combination of two conditions, made when it is first needed. */
export function byConditions<Input extends object, Row>(
  make: (first: boolean, second: boolean) => Statement<Input, Row>,
): (first: boolean, second: boolean) => Statement<Input, Row> {
  const made: (Statement<Input, Row> | undefined)[] = []
  return (first, second) => {
    const index = (first ? 2 : 0) + (second ? 1 : 0)
    const statement = made[index] ?? make(first, second)
    made[index] = statement
    return statement
  }
}
