import { type CompiledQuery, sql } from 'kysely'
import type { Database, Reader, Transaction } from '../../src/platform/storage/database.ts'
import { type Statement, statement } from '../../src/platform/storage/statement.ts'
import type { DatabaseContext } from '../support/each-database.ts'

/** A table of two columns is all that storage itself needs to be tested. */
export async function openWithItems(
  context: DatabaseContext,
  options: Parameters<DatabaseContext['open']>[0] = {},
): Promise<Database> {
  const db = await context.open({ migrated: false, ...options })
  await db.write((tx) => sql`create table items (id text primary key, value bigint not null)`.execute(tx.query))
  return db
}

export async function put(tx: Transaction, id: string, value: number): Promise<void> {
  await sql`insert into items (id, value) values (${id}, ${value})`.execute(tx.query)
}

export async function itemValue(reader: Reader, id: string): Promise<number | undefined> {
  const { rows } = await sql<{ value: number }>`select value from items where id = ${id}`.execute(reader.query)
  return rows[0]?.value
}

export async function allItems(reader: Reader): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; value: number }>`select id, value from items`.execute(reader.query)
  return new Map(rows.map(({ id, value }) => [id, value]))
}

export async function increment(tx: Transaction, id: string): Promise<void> {
  const value = (await itemValue(tx, id)) ?? 0
  await sql`update items set value = ${value + 1} where id = ${id}`.execute(tx.query)
}

/** Statements are built from Kysely queries; these name a table that only tests have. */
export const insertItem: Statement<{ id: string; value: number }, never> = statement((query, p) =>
  compilable(sql`insert into items (id, value) values (${p('id')}, ${p('value')})`.compile(query)),
)
export const findItem: Statement<{ id: string }, { id: string; value: number; kind: string }> = statement((query, p) =>
  compilable(
    sql`select id, value, ${'constant'} as kind from items where id = ${p('id')} and value <> ${-1}`.compile(query),
  ),
)

function compilable(query: CompiledQuery) {
  return { compile: () => query }
}

/** A promise and the way to settle it from outside. */
export function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}
