import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { statement } from '../../src/platform/storage/statement.ts'
import { postgresUnavailable, startPostgres } from '../../test/support/postgres.ts'
import { benchDirectory } from '../bench-directory.ts'
import { median, type Scenario } from '../scenario.ts'

const CLIENTS = [1, 16, 64]
const ROUNDS = 5
const ROUND_MS = 600
const PAYLOAD = 'x'.repeat(200)
const TABLE = 'create table rows (id text primary key, payload text not null)'

interface Row {
  id: string
  payload: string
}

const insert = statement<Row>((query, p) => {
  const compiled = sql`insert into rows (id, payload) values (${p('id')}, ${p('payload')})`.compile(query)
  return { compile: () => compiled }
})

export const scenario: Scenario = {
  description: 'durable single-row writes per second by concurrent clients: group commit against autocommit',
  async run(say) {
    const options = { clock: new SystemClock(), log: createLogger({ level: 'silent', format: 'json' }) }
    const db = await openDatabase({ dataDir: benchDirectory(), ...options })
    await db.write((tx) => sql.raw(TABLE).execute(tx.query))
    const autocommit = openAutocommit()
    const rows: (string | number | null)[][] = []
    const ratios = new Map<number, number>()
    for (const clients of CLIENTS) {
      const ours: number[] = []
      const theirs: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        ours.push(await rate(clients, () => db.write((tx) => tx.run(insert, { id: newId(), payload: PAYLOAD }))))
        theirs.push(await rate(clients, autocommit.write))
      }
      const ratio = median(ours.map((our, round) => our / (theirs[round] as number)))
      ratios.set(clients, ratio)
      rows.push(['SQLite', clients, median(ours), median(theirs), ratio])
      say(`SQLite, ${clients} clients: ${Math.round(median(ours))} against ${Math.round(median(theirs))} writes/s`)
    }
    await db.close()
    autocommit.close()
    rows.push(...(await measurePostgres(options, say)))
    return {
      columns: ['engine', 'clients', 'writes/s', 'autocommit/s', 'ratio'],
      rows,
      targets: [{ name: 'group commit at 64 clients', value: ratios.get(64) as number, unit: 'x', atLeast: 10 }],
    }
  },
}

/** The same statement, table and guarantees, one commit for each write, called by asynchronous clients just the same. */
function openAutocommit() {
  const db = new DatabaseSync(join(benchDirectory(), 'autocommit.db'))
  for (const pragma of [
    'journal_mode = wal',
    'synchronous = full',
    'secure_delete = on',
    'journal_size_limit = 67108864',
    'cache_size = -16384',
  ]) {
    db.exec(`pragma ${pragma}`)
  }
  db.exec(TABLE)
  const prepared = db.prepare('insert into rows (id, payload) values (?, ?)')
  return {
    write: async () => void prepared.run(newId(), PAYLOAD),
    close: () => db.close(),
  }
}

async function rate(clients: number, write: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  let written = 0
  const client = async () => {
    while (performance.now() - began < ROUND_MS) {
      await write()
      written++
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return (1000 * written) / (performance.now() - began)
}

/** The same clients on PostgreSQL with a real fsync; for information, because the engine is another. */
async function measurePostgres(
  options: { clock: SystemClock; log: ReturnType<typeof createLogger> },
  say: (line: string) => void,
): Promise<(string | number | null)[][]> {
  const unavailable = postgresUnavailable()
  if (unavailable !== null) {
    say(`PostgreSQL is left out: ${unavailable}`)
    return []
  }
  process.env.COMMONPLACE_TEST_POSTGRES_FSYNC = 'on'
  const server = await startPostgres()
  const db: Database = await openDatabase({
    databaseUrl: server.url,
    dataDir: benchDirectory(),
    poolSize: 16,
    ...options,
  })
  try {
    await db.write((tx) => sql.raw(TABLE).execute(tx.query))
    const rows: (string | number | null)[][] = []
    for (const clients of CLIENTS) {
      const write = () =>
        db.write((tx) => tx.run(insert, { id: newId(), payload: PAYLOAD }), { isolation: 'read committed' })
      const rates = [await rate(clients, write), await rate(clients, write), await rate(clients, write)]
      rows.push(['PostgreSQL', clients, median(rates), null, null])
    }
    return rows
  } finally {
    await db.close()
    await server.stop()
  }
}
