import pg from 'pg'
import { AppError } from '../errors/app-error.ts'

/**
 * What our statements count on. An operator may have set each of these otherwise, for the server, the database or the role, and
 * results would be others without a word: strings read differently, numbers cut off, rows of an index left out. Limits in time are the
 * operator's, but for idle connections: a pool has some, and who listens is one.
 */
export const SESSION_SETTINGS = `
  set default_transaction_isolation = 'read committed';
  set standard_conforming_strings = on;
  set extra_float_digits = 1;
  set bytea_output = 'hex';
  set array_nulls = on;
  set gin_fuzzy_search_limit = 0;
  set idle_session_timeout = 0`

const OLDEST = 150_000
const ROUNDS = 3

interface Server {
  version: number
  encoding: string
  pid: number
}

/** Refuses a server that would not keep what it is given, before anything is written to it. */
export async function refuseUnfit(client: pg.ClientBase, connection: pg.ClientConfig): Promise<void> {
  const { version, encoding, pid } = await describe(client)
  if (version < OLDEST) {
    throw refusal(
      `The PostgreSQL server has version ${Math.floor(version / 10_000)}; Commonplace needs 15 or newer: upgrade the server`,
    )
  }
  if (encoding !== 'UTF8') {
    throw refusal(`The database stores text as ${encoding}, which cannot hold all of it: create one with encoding UTF8`)
  }
  // Whoever connects is told the number of the process that serves it. A pooler in between tells a number of its own.
  const { processID } = client as pg.ClientBase & { processID?: number }
  if (processID !== pid && (await isShared(client, connection))) {
    throw refusal(
      'A pooler hands the connection to PostgreSQL to others between two transactions, so that signals and prepared statements get ' +
        'lost: set it to session mode (pool_mode = session of PgBouncer), or connect to PostgreSQL itself',
    )
  }
}

/** Whether another client is given the process of this one, as long as that is in no transaction. */
async function isShared(client: pg.ClientBase, connection: pg.ClientConfig): Promise<boolean> {
  const other = new pg.Client(connection)
  other.on('error', () => {}) // told by its query, too
  await other.connect()
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const before = await pidOf(client)
      await other.query('begin')
      const its = await pidOf(other)
      const now = await pidOf(client)
      await other.query('rollback')
      if (before === its || before !== now) return true
    }
    return false
  } finally {
    await other.end().catch(() => {})
  }
}

async function describe(client: pg.ClientBase): Promise<Server> {
  const { rows } = await client.query<Server>(`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      pg_backend_pid() as pid`)
  return rows[0] as Server
}

async function pidOf(client: pg.ClientBase): Promise<number> {
  return (await describe(client)).pid
}

function refusal(message: string): AppError {
  return new AppError('failed_precondition', message)
}
