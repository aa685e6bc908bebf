import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'

/** For sorting and comparing texts alike on both engines: PostgreSQL would do it as the language of the database does. */
export function byteOrder(engine: Engine, text: RawBuilder<unknown>): RawBuilder<unknown> {
  return engine === 'postgres' ? sql`${text} collate "C"` : text
}
