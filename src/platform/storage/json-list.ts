import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'

/** For `in`: the texts of a JSON array, which is one parameter, so that lists of any length share a statement. */
export function textsIn(engine: Engine, json: string): RawBuilder<string> {
  return engine === 'sqlite'
    ? sql<string>`(select value from json_each(${json}))`
    : sql<string>`(select json_array_elements_text(${json}::json))`
}

/** The same for whole numbers. */
export function numbersIn(engine: Engine, json: string): RawBuilder<number> {
  return engine === 'sqlite'
    ? sql<number>`(select value from json_each(${json}))`
    : sql<number>`(select value::bigint from json_array_elements_text(${json}::json) as list (value))`
}
