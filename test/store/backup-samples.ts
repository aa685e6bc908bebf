import { sql } from 'kysely'
import { catalogOf } from '../../src/platform/backup/catalog.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import type { Engine } from '../../src/platform/storage/engine.ts'
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
    await insertCallback(tx)
    await insertInstance(tx)
    await insert(tx, 'rate_windows', { bucket: 'b', subject: 's', window_start: 1, used: 1 })
  })
}

/** A run with everything that can belong to it. */
async function insertCallback(tx: Transaction): Promise<void> {
  await insert(tx, 'callback_destinations', {
    namespace_id: 'n1',
    destination: 'https://hooks.example.org',
    concurrency: 5,
    rps: 0.1,
    last_failure_at: 1_790_000_000_000_000,
    last_failure_message: 'handler error (INTERNAL): Ünïcode 🗒',
  })
  await insert(tx, 'callback_runs', {
    namespace_id: 'n1',
    callback_id: 'order 1',
    run_id: 'r1',
    request_id: 'q1',
    destination_id: 1,
    status: 1,
    state: 3,
    attempt: 1,
    transition_count: 2,
    created_at: 1_790_000_000_000_000,
    next_attempt_at: 1_790_000_001_000_000,
    retry_policy: '{"maximumAttempts":3}',
    due_at: 1_790_000_001_000_000,
    sort_at: Number.MAX_SAFE_INTEGER,
  })
  await insert(tx, 'callback_inputs', {
    run_number: 1,
    search_attributes: null,
    callback: Buffer.from([0, 1, 2, 255]),
    completion: Buffer.alloc(0),
  })
  await insert(tx, 'callback_failures', { run_number: 1, last_attempt: '{"message":"no"}', terminal: null })
  await insert(tx, 'callback_attempts', {
    run_number: 1,
    attempt: 1,
    started_at: 1,
    ended_at: 2,
    outcome: 'unknown-error',
    status_code: null,
    error_type: '',
    message: 'connect ECONNREFUSED',
    response_snippet: '',
    address: null,
  })
  await insert(tx, 'callback_replays', {
    id: 'j1',
    namespace_id: 'n1',
    request_id: 'q2',
    query: 'ExecutionStatus = "Failed" AND K = "é"',
    search_attributes: '{"K":"Keyword"}',
    closed_until: 1_790_000_000_000_000,
    run_number_until: 1,
    matched: 3,
    started: 1,
    failed: 0,
    created_at: 1_790_000_000_000_000,
    finished_at: null,
  })
  await insert(tx, 'callback_waiting_replays', { replay_id: 'j1', run_number: 1 })
  await insert(tx, 'callback_attributes', { run_number: 1, name: 'K', place: 0, type: 'Keyword', text_value: 'é' })
  for (const [place, number] of NUMBERS.entries()) {
    const row = { run_number: 1, name: 'N', place, type: 'Double' }
    await insert(tx, 'callback_attributes', { ...row, number_value: tx.engine === 'sqlite' ? number : String(number) })
  }
}

/** What the public face of the server is made from. */
async function insertInstance(tx: Transaction): Promise<void> {
  const at = 1_790_000_000_000_000
  await insert(tx, 'instance_settings', { key: 'contact.email', value: '"ops@example.org"', modified_at: at })
  const rule = { text: 'Ünïcode 🗒', hint: '', priority: 0, translations: '{"de":{"text":"x","hint":""}}' }
  await insert(tx, 'instance_rules', { ...rule, created_at: at, modified_at: at, deleted_at: null })
  await insert(tx, 'instance_documents', { kind: 'privacy_policy', text: '# "Privacy"\n', updated_at: at })
  const terms = { text: 'T', changelog: '', created_at: at, updated_at: at }
  await insert(tx, 'instance_terms', { ...terms, effective_date: '2030-01-31', published_at: at })
  await insert(tx, 'instance_terms', { ...terms, effective_date: null, published_at: null })
  await insert(tx, 'domain_blocks', {
    domain: 'xn--r9j5b5b',
    severity: 'suspend',
    reject_media: 1,
    reject_reports: 0,
    private_comment: '',
    public_comment: 'a, "b"',
    obfuscate: 1,
    created_at: at,
    modified_at: at,
  })
  for (const table of ['domain_allows', 'declared_peers']) {
    await insert(tx, table, { domain: 'example.org', created_at: at })
  }
  await insert(tx, 'instance_images', {
    kind: 'icon',
    size: '36x36',
    content_type: 'image/png',
    width: 36,
    height: 36,
    hash: 'h',
    blurhash: null,
    bytes: Buffer.from([0, 1, 2, 255]),
    created_at: at,
  })
  await insert(tx, 'instance_secrets', { name: 'vapid', public_value: 'p=', sealed_value: 'v1.x', created_at: at })
  await insert(tx, 'translation_lists', { provider_key: 'deepl', languages: '{"und":["en"]}', fetched_at: at })
  await insert(tx, 'account_names', { user_id: 'u0', username: 'ada_x-2' })
  await insert(tx, 'log_in_days', { day: 20_717, user_id: 'u0' })
}

// All of 64 bits, and fractions that take every digit of theirs.
const NUMBERS = [0n, 2n ** 63n - 1n, -(2n ** 63n), 9_007_199_254_740_993n, 0.1, 1 / 3, 1e300, -5e-324, 2 ** 60]

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

/** Everything that counts and is kept by a backup, in a form that is equal for equal contents on either engine. */
export async function contentsOf(
  db: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {}
  for (const { name, columns, numeric } of await catalogOf(migrations)) {
    const values = columns.map((column) => (numeric.includes(column) ? digitsOf(db.engine, column) : sql.ref(column)))
    // Every restore has an id of its own.
    const kept = name === 'installation' ? sql`where key <> 'restored'` : sql``
    const query = sql<Record<string, unknown>>`select ${sql.join(values)} from ${sql.table(name)} ${kept}`
    const { rows } = await query.execute(db.query)
    const texts = rows.map((row) =>
      JSON.stringify(columns.map((column) => (numeric.includes(column) ? exactly(row[column]) : plain(row[column])))),
    )
    contents[name] = texts.sort()
  }
  return contents
}

/** The number with all its digits: SQLite's own text of a fraction, and JavaScript's whole numbers, would lose some. */
function digitsOf(engine: Engine, column: string) {
  const value = sql.ref(column)
  const text = sql`cast(${value} as text)`
  return engine === 'sqlite'
    ? sql`case when typeof(${value}) = 'integer' then ${text} else ${value} end as ${value}`
    : sql`${text} as ${value}`
}

function exactly(digits: unknown): unknown {
  if (digits === null) return null
  return BigInt.asIntN(64, toWhole(digits)) === toWhole(digits) ? `${toWhole(digits)}` : Number(digits)
}

function toWhole(digits: unknown): bigint {
  return Number.isInteger(Number(digits)) ? BigInt(digits as string | number) : 2n ** 64n
}

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString('hex')}` : value
}
