/** A thread cannot share the connections of the server: it has one of its own. */
import pg from 'pg'
import { ignoreFailure } from '../../../platform/errors/ignore-failure.ts'
import { addressFor } from '../../../platform/storage/postgres-client.ts'
import { SESSION_SETTINGS } from '../../../platform/storage/postgres-session.ts'
import { SqliteConnection } from '../../../platform/storage/sqlite-connection.ts'

/** Where a database is, in words that a thread can be told. */
export type VectorPlace = { engine: 'sqlite'; file: string } | { engine: 'postgres'; url: string }

export interface VectorConnection {
  readonly engine: 'sqlite' | 'postgres'
  /** Values are called ?1, ?2 and so on. */
  ask<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>
  close(): Promise<void>
}

export function connectVectors(place: VectorPlace): VectorConnection {
  return place.engine === 'sqlite' ? connectSqlite(place.file) : connectPostgres(place.url)
}

// The pages that are read were never read before, or long ago.
const CACHE_KIB = 2_048

function connectSqlite(file: string): VectorConnection {
  const connection = new SqliteConnection(file, { readOnly: true, cacheKib: CACHE_KIB })
  return {
    engine: 'sqlite',
    ask: async <Row>(sql: string, values: readonly unknown[]) => connection.rows(sql, values) as Row[],
    close: async () => connection.close(),
  }
}

const INT8 = 20
const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 60_000

function connectPostgres(url: string): VectorConnection {
  let connecting: Promise<pg.Client> | undefined
  const forget = (one: Promise<pg.Client>) => {
    if (connecting === one) connecting = undefined
  }
  const connect = (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: addressFor(url),
      application_name: 'commonplace vectors',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      types: {
        getTypeParser: ((oid: number, format?: 'text') =>
          oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
      },
    })
    const ready = begin(client)
    // The next question opens another one.
    client.on('error', () => forget(ready))
    return ready
  }
  return {
    engine: 'postgres',
    async ask<Row>(sql: string, values: readonly unknown[]) {
      connecting ??= connect()
      const used = connecting
      try {
        const client = await used
        return (await client.query({ text: sql.replaceAll('?', '$'), values: [...values] })).rows as Row[]
      } catch (error) {
        forget(used)
        ignoreFailure(
          used.then((client) => client.end()),
          'the connection is given up',
        )
        throw error
      }
    },
    async close() {
      await connecting?.then((client) => client.end()).catch(() => {})
    },
  }
}

async function begin(client: pg.Client): Promise<pg.Client> {
  try {
    await client.connect()
    await client.query(SESSION_SETTINGS)
  } catch (error) {
    ignoreFailure(client.end(), 'the connection is given up')
    throw error
  }
  return client
}
