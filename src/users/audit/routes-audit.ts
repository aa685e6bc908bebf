import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listAudit, type RecordedEvent, streamAudit } from '../../platform/audit/list.ts'
import { preferredType } from '../../platform/http/answer/preferred-type.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { whileAllowed } from '../../platform/http/entry/still-allowed.ts'
import { operation } from '../../platform/http/operation.ts'
import type { UsersDeps } from '../deps.ts'
import { AuditListDocument, AuditQuery, auditEventToWire, auditFilter } from './schema-audit.ts'

const LINES = 'application/x-ndjson'
const LINES_PER_CHUNK = 100

export function auditRoutes(server: FastifyInstance, { db }: UsersDeps): void {
  operation(server, {
    method: 'GET',
    url: '/api/v2/audit/events',
    operationId: 'ListAuditEvents',
    summary: 'List audit events, newest first',
    description: `With "Accept: ${LINES}" every event that matches is answered, one JSON object a line, without pages.`,
    surface: 'users',
    access: 'audit_logs_read',
    rateLimit: 'users_read',
    alsoAs: LINES,
    schema: { querystring: AuditQuery, response: { 200: AuditListDocument } },
    async handler(request, reply) {
      const { organizationId } = callerOf(request)
      const { query } = request
      reply.header('vary', 'Accept')
      if (wantsLines(request)) {
        reply.header('content-type', LINES)
        const events = streamAudit(db, organizationId, auditFilter(query))
        return reply.send(Readable.from(whileAllowed(request, lines(events))))
      }
      const page = { limit: query['page[limit]'], cursor: query['page[cursor]'] }
      const { events, cursor } = await listAudit(db, organizationId, auditFilter(query), page)
      return { data: events.map(auditEventToWire), meta: { page: { after: cursor } } }
    },
  })
}

function wantsLines({ headers }: FastifyRequest): boolean {
  return preferredType(headers.accept, ['application/json', LINES]) === LINES
}

/** A few lines at a time; the next ones are read when the caller has taken these. */
async function* lines(events: AsyncIterable<RecordedEvent>): AsyncGenerator<string> {
  let text = ''
  let count = 0
  for await (const event of events) {
    text += `${JSON.stringify(auditEventToWire(event))}\n`
    if (++count % LINES_PER_CHUNK !== 0) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}
