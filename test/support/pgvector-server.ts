import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

export interface PgvectorServer extends AsyncDisposable {
  url: string
}

/** A PostgreSQL that has pgvector, as far as one inside this process is one: for statements, not for concurrency. */
export async function startPgvectorServer(): Promise<PgvectorServer> {
  const db = await PGlite.create({ extensions: { vector, pg_trgm } })
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 20 })
  await server.start()
  return {
    url: `postgres://postgres:postgres@${server.getServerConn()}/postgres`,
    async [Symbol.asyncDispose]() {
      await server.stop()
      await db.close()
    },
  }
}
