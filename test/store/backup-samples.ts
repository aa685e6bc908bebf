import { sql } from 'kysely'
import { catalogOf } from '../../src/platform/backup/catalog.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { MIGRATIONS, type Migration } from '../../src/platform/storage/migrations/index.ts'

/** Rows in many tables, with the values that are easily lost on the way: empty, null, binary, large, not ASCII. */
export async function fillWithSamples(db: Database): Promise<void> {
  await db.write(async (tx) => {
    await insert(tx, 'organizations', {
      id: 'o1',
      public_id: 'p1',
      name: 'Ünïcode 🗒 "quoted"\nline',
      description: null,
      created_at: 1,
      modified_at: 2,
    })
    for (let n = 0; n < 1_200; n++) {
      const row = {
        id: `u${n}`,
        organization_id: 'o1',
        email: `u${n}@example.org`,
        handle: `u${n}`,
        name: n % 2 ? '' : null,
      }
      await insert(tx, 'users', { ...row, status: 'Active', created_at: 1_790_000_000_000_000 + n, modified_at: n })
    }
    for (const [n, body] of [null, Buffer.alloc(0), Buffer.from([0, 1, 2, 255]), Buffer.alloc(5_000, 7)].entries()) {
      await insert(tx, 'idempotency_keys', {
        subject: 's',
        route: 'r',
        key: `k${n}`,
        fingerprint: 'f',
        status: 200,
        body,
        created_at: n,
      })
    }
    for (let n = 1; n <= 5; n++) {
      const name = `project ${n}`
      await insert(tx, 'projects', {
        external_id: `e${n}`,
        name,
        name_folded: name,
        permalink: name,
        path: '/',
        created_at: 1,
        modified_at: 1,
      })
    }
    // The number 5 was given once and must not be given again.
    await sql`delete from projects where id = 5`.execute(tx.query)
    await insert(tx, 'rate_windows', { bucket: 'b', subject: 's', window_start: 1, used: 1 })
  })
}

export async function addProject(db: Database, name: string): Promise<number> {
  const { rows } = await db.write((tx) =>
    sql<{ id: number }>`insert into projects (external_id, name, name_folded, permalink, path, created_at, modified_at)
      values (${name}, ${name}, ${name}, ${name}, '/', 1, 1) returning id`.execute(tx.query),
  )
  return rows[0]?.id as number
}

async function insert(tx: Transaction, table: string, row: Record<string, unknown>): Promise<void> {
  await sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((column) => sql.ref(column)))})
    values (${sql.join(Object.values(row))})`.execute(tx.query)
}

/** Everything that counts, in a form that is equal for equal contents on either engine. */
export async function contentsOf(
  db: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {}
  for (const { name, columns } of await catalogOf(migrations)) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db.query)
    const texts = rows.map((row) => JSON.stringify(columns.map((column) => plain(row[column]))))
    contents[name] = texts.sort()
  }
  return contents
}

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString('hex')}` : value
}
