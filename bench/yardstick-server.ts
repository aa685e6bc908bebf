/**
 * The platform without features, on the data directory of a server that was started once: a route that inserts one row,
 * and small JSON routes, open to all and behind credentials, and one with a document of any size. Whatever a feature adds is measured against these.
 */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { DatabaseAuthenticator } from '../src/platform/auth/authenticator.ts'
import { IdentityChanges } from '../src/platform/auth/identity-changes.ts'
import { SystemClock } from '../src/platform/clock/clock.ts'
import { listen } from '../src/platform/http/connection/listen.ts'
import { operation } from '../src/platform/http/operation.ts'
import { createHttpServer } from '../src/platform/http/server.ts'
import { newId } from '../src/platform/ids/uuid.ts'
import { createLogger } from '../src/platform/logging/logger.ts'
import { RateLimiter } from '../src/platform/rate-limit/rate-limiter.ts'
import type { Database } from '../src/platform/storage/database.ts'
import { openDatabase } from '../src/platform/storage/open.ts'
import { statement } from '../src/platform/storage/statement.ts'
import { createMetrics } from '../src/platform/telemetry/metrics.ts'

const [, , dataDir = '.', databaseUrl = null] = process.argv
const clock = new SystemClock()
const log = createLogger({ level: 'info', format: 'json' })
const db = await openDatabase({ dataDir, databaseUrl, clock, log })
await db.write((tx) => sql`create table yardstick (id text primary key, payload text not null)`.execute(tx.query))

const server = await createHttpServer({
  settings: {
    base_url: null,
    trusted_proxies: [],
    body_limit: 1024 * 1024,
    header_limit: 16 * 1024,
    request_timeout: 30_000,
    idle_timeout: 60_000,
    unread_timeout: 10_000,
    keep_alive_timeout: 60_000,
    max_connections: 0,
  },
  mode: 'serve',
  version: '0',
  log,
  clock,
  metrics: createMetrics(),
  authenticator: new DatabaseAuthenticator({
    db,
    clock,
    log,
    changes: new IdentityChanges(db),
    mode: 'serve',
    sessionIdleMs: 3_600_000,
    sessionMaxMs: 86_400_000,
  }),
  rateLimiter: new RateLimiter({ buckets: {}, clock, log, db }),
  readiness: async () => ({ ready: true }),
})
insertRoute(server, db)
jsonRoute(server, 'public')
jsonRoute(server, 'signed_in')
documentRoute(server)
const { url } = await listen(server, '127.0.0.1', 0)
console.log(`listening on ${url}`)
process.once('SIGTERM', () => process.exit(0))

function insertRoute(on: FastifyInstance, database: Database): void {
  const insert = statement<{ id: string; payload: string }>(
    (_query, p) => sql`insert into yardstick (id, payload) values (${p('id')}, ${p('payload')})`,
  )
  const Body = Type.Object({ payload: Type.String() })
  operation(on, {
    method: 'POST',
    url: '/yardstick',
    operationId: 'InsertOneRow',
    summary: 'Insert one row',
    surface: 'users',
    access: 'public',
    rateLimit: null,
    schema: { body: Body, response: { 201: Type.Object({ id: Type.String() }) } },
    async handler(request, reply) {
      const id = newId()
      await database.write((tx) => tx.run(insert, { id, payload: request.body.payload }), {
        isolation: 'read committed',
      })
      return reply.code(201).send({ id })
    },
  })
}

function jsonRoute(on: FastifyInstance, access: 'public' | 'signed_in'): void {
  operation(on, {
    method: 'GET',
    url: `/yardstick/${access}`,
    operationId: `Small_${access}`,
    summary: 'Answer a small document',
    surface: 'users',
    access,
    rateLimit: null,
    // Said alike for both: a public answer would otherwise have a header less.
    cacheControl: 'private, no-cache',
    schema: { response: { 200: Type.Object({ name: Type.String(), count: Type.Integer(), on: Type.Boolean() }) } },
    handler: () => ({ name: 'small', count: 1, on: true }),
  })
}

function documentRoute(on: FastifyInstance): void {
  const Document = Type.Object({ id: Type.String(), content: Type.String() })
  operation(on, {
    method: 'POST',
    url: '/yardstick/document',
    operationId: 'AnswerDocument',
    summary: 'Answer a document of a given size',
    surface: 'knowledge',
    access: 'signed_in',
    rateLimit: null,
    schema: { body: Type.Object({ size: Type.Integer() }), response: { 200: Document } },
    handler: (request) => ({ id: 'document', content: 'x'.repeat(request.body.size) }),
  })
  operation(on, {
    method: 'GET',
    url: '/yardstick/document/:size',
    operationId: 'GetDocument',
    summary: 'Answer a document of a given size',
    surface: 'knowledge',
    access: 'signed_in',
    rateLimit: null,
    schema: { params: Type.Object({ size: Type.String() }), response: { 200: Document } },
    handler: (request) => ({ id: 'document', content: 'x'.repeat(Number(request.params.size)) }),
  })
}
