import { sql } from 'kysely'
import type { Transaction } from '../storage/database.ts'
import type { CatalogTable } from './catalog.ts'

/**
 * A table that refers to itself, or tables that refer to each other, cannot be filled in an order that satisfies every
 * reference row by row. PostgreSQL then checks these references at the end, which is what the answer does.
 */
export async function deferCircles(tx: Transaction, tables: readonly CatalogTable[]): Promise<() => Promise<void>> {
  const { rows } = await sql<{ name: string; child: string; parent: string }>`
    select conname as name, child.relname as child, parent.relname as parent
    from pg_constraint
    join pg_class child on child.oid = conrelid
    join pg_class parent on parent.oid = confrelid
    where contype = 'f' and not condeferrable and pg_table_is_visible(child.oid)
  `.execute(tx.query)
  const place = new Map(tables.map(({ name }, index) => [name, index]))
  const backward = rows.filter(({ child, parent }) => {
    const [at, needs] = [place.get(child), place.get(parent)]
    return at !== undefined && needs !== undefined && needs >= at
  })
  const alter = async (rule: string) => {
    for (const { child, name } of backward) {
      await sql`alter table ${sql.table(child)} alter constraint ${sql.ref(name)} ${sql.raw(rule)}`.execute(tx.query)
    }
  }
  await alter('deferrable initially deferred')
  return async () => {
    await sql`set constraints all immediate`.execute(tx.query)
    await alter('not deferrable')
  }
}
