import { sql } from 'kysely'
import type { Reader, ShardAddend, Transaction } from '../storage/database.ts'
import { statement } from '../storage/statement.ts'

declare module '../storage/tables.ts' {
  interface Tables {
    tallies: { name: string; shard: number; amount: number }
  }
}

const addToShard = statement<ShardAddend>((query, p) =>
  query
    .insertInto('tallies')
    .values({ name: p('name'), shard: p('shard'), amount: p('amount') })
    .onConflict((conflict) =>
      conflict.columns(['name', 'shard']).doUpdateSet((eb) => ({
        amount: eb('tallies.amount', '+', eb.ref('excluded.amount')),
      })),
    ),
)

const NOTHING = Promise.resolve()

/** A count that is kept instead of counted: raised and lowered in the transaction that changes what it counts. */
export function addToTally(tx: Transaction, name: string, amount: number): Promise<void> {
  if (amount === 0) return NOTHING
  return tx.addToSum(addToShard, { name, amount })
}

/** 0 for a tally that was never raised. */
export async function readTallies(reader: Reader, names: readonly string[]): Promise<Map<string, number>> {
  const tallies = new Map<string, number>(names.map((name) => [name, 0]))
  if (names.length === 0) return tallies
  if (isTransaction(reader)) await reader.writeSums()
  const rows = await reader.query
    .selectFrom('tallies')
    .select(['name', 'amount'])
    .where('name', 'in', [...tallies.keys()])
    .execute()
  for (const { name, amount } of rows) tallies.set(name, (tallies.get(name) as number) + amount)
  return tallies
}

export async function dropTally(tx: Transaction, name: string): Promise<void> {
  await tx.writeSums()
  await tx.query.deleteFrom('tallies').where('name', '=', name).execute()
}

function isTransaction(reader: Reader): reader is Transaction {
  return 'isTransaction' in reader
}

/** Drops the tallies of days before `date`, which end in their day: `users.created:2030-01-31`. */
export async function dropTalliesBefore(tx: Transaction, prefix: string, date: string): Promise<void> {
  await tx.writeSums()
  await tx.query
    .deleteFrom('tallies')
    .where('name', 'like', `${prefix}____-__-__`)
    .where(sql<string>`substr(name, ${sql.lit(prefix.length + 1)})`, '<', date)
    .execute()
}
