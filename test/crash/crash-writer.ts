// Writes as fast as it can from many sides at once until it is killed, and says the id of a change as soon as that
// change was answered. Run by crash.test.ts: `node crash-writer.ts '<JSON of Place>' <round>`.
import { writeSync } from 'node:fs'
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Transaction } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import type { Place } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'

const CLIENTS = 16
const ACCOUNTS = 8
const LARGE = 'x'.repeat(20_000)

const place: Place = JSON.parse(process.argv[2] as string)
const round = process.argv[3]
const db = await openDatabase({ ...place, poolSize: 8, clock: new SystemClock(), log: silentLogger() })
await Promise.all(Array.from({ length: CLIENTS }, (_, client) => writeForEver(client)))

async function writeForEver(client: number): Promise<void> {
  for (let n = 0; ; n++) {
    const id = `${round}-${client}-${n}`
    try {
      await db.write((tx) => change(tx, id, n))
    } catch {
      continue // on purpose, or because PostgreSQL gave up after many conflicts
    }
    // NOTE Synchronous: what was said before the kill is in the pipe.
    writeSync(1, `${id}\n`)
  }
}

/** Two rows that belong together and a transfer between two accounts; every tenth fails after half of it. */
async function change(tx: Transaction, id: string, n: number): Promise<void> {
  const text = n % 25 === 0 ? LARGE : 'small'
  await sql`insert into halves (id, half, text) values (${id}, 'left', ${text})`.execute(tx.query)
  const [from, to] = [n % ACCOUNTS, (n * 3 + 1) % ACCOUNTS]
  await sql`update accounts set balance = balance - 1 where id = ${from}`.execute(tx.query)
  if (n % 10 === 7) throw new Error('fails on purpose')
  await sql`update accounts set balance = balance + 1 where id = ${to}`.execute(tx.query)
  await sql`insert into halves (id, half, text) values (${id}, 'right', ${text})`.execute(tx.query)
}
