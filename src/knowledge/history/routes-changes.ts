import type { FastifyInstance, FastifyReply } from 'fastify'
import { varyBy } from '../../platform/http/answer/compression.ts'
import { goneSignal } from '../../platform/http/answer/gone-signal.ts'
import { preferredType } from '../../platform/http/answer/preferred-type.ts'
import { HttpResponse } from '../../platform/http/connection/response.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { isStillAllowed, refuseUnlessStillAllowed } from '../../platform/http/entry/still-allowed.ts'
import { operation } from '../../platform/http/operation.ts'
import type { OperationRequest } from '../../platform/http/operation-options.ts'
import { routeLabel } from '../../platform/http/route/route-label.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { projectUrls } from '../project/urls.ts'
import { CHANGES_PER_READ, changeEvents, EVENT_STREAM } from './change-events.ts'
import { ChangeStreams } from './change-streams.ts'
import { readChanges } from './changes-feed.ts'
import { ChangesDocument, ChangesQuery, changeDocument } from './schema-history.ts'

const DEFAULT_CHANGES = 100
const HEARTBEAT_MS = 15_000
const FORMS = ['application/json', EVENT_STREAM] as const
const URLS = projectUrls('/knowledge/changes')
const SCHEMA = { params: ProjectPath, querystring: ChangesQuery, response: { 200: ChangesDocument } } as const

export function changesRoutes(server: FastifyInstance, deps: Pick<KnowledgeDeps, 'db' | 'clock'>): ChangeStreams {
  const { platform } = server
  const streams = new ChangeStreams(deps.clock)
  const heartbeatMs = Math.min(HEARTBEAT_MS, platform.settings.idle_timeout / 2 || HEARTBEAT_MS)
  // An answer that lasts for hours says nothing about how long the others take.
  const streamLabel = routeLabel(platform, 'StreamChanges', URLS.url)
  // Whoever waits is answered at once when the server stops.
  const closing = new AbortController()
  server.addHook('preClose', async () => closing.abort())

  operation(server, {
    method: 'GET',
    ...URLS,
    operationId: 'ListChanges',
    summary: 'List what changed since the last question',
    description:
      'The last change of each note, oldest first. Without `since`, of all notes there are and of those deleted lately. Ask again with `cursor`, which is good for 90 days: 410 when it is too old to be complete, or from before a restore from a backup. With `Accept: text/event-stream` the answer goes on for as long as the caller listens: one event `change` for each, its `id` a cursor, which `Last-Event-ID` or `since` goes on behind; `limit` and `wait` have no effect. 429 when the caller has too many such streams, 503 when the server has.',
    surface: 'knowledge',
    access: 'notes_read',
    rateLimit: null,
    cacheControl: 'no-store',
    alsoAs: EVENT_STREAM,
    schema: SCHEMA,
    async handler(request, reply) {
      varyBy(reply, 'Accept')
      const ended = AbortSignal.any([goneSignal(reply.raw), closing.signal])
      if (preferredType(request.headers.accept, FORMS) === EVENT_STREAM) return stream(request, reply, ended)
      const { since, limit = DEFAULT_CHANGES, wait = 0 } = request.query
      const question = { projectId: request.params.project_id, since, limit, waitMs: wait * 1000 }
      const { changes, cursor, hasMore } = await readChanges(deps, question, ended)
      if (wait > 0) await refuseUnlessStillAllowed(request)
      return { changes: changes.map(changeDocument), cursor, has_more: hasMore }
    },
  })

  /** What can be refused is refused before the first byte: the first page is read by then. */
  async function stream(request: OperationRequest<typeof SCHEMA>, reply: FastifyReply, ended: AbortSignal) {
    const projectId = request.params.project_id
    const since = lastEventId(request) ?? request.query.since
    const first = await readChanges(deps, { projectId, since, limit: CHANGES_PER_READ, waitMs: 0 }, ended)
    const leave = await streams.enter(callerOf(request), ended)
    const options = { deps, projectId, heartbeatMs, isStillAllowed: () => isStillAllowed(request), ended }
    if (reply.raw instanceof HttpResponse) reply.raw.label = streamLabel
    reply.headers({
      'content-type': `${EVENT_STREAM}; charset=utf-8`,
      // A proxy that gathers an answer before it hands it on would hand on nothing.
      'x-accel-buffering': 'no',
      // The connection has nothing else to do meanwhile, and must not hold up a server that stops.
      connection: 'close',
    })
    return reply.send(streams.stream(changeEvents(first, options), leave))
  }

  return streams
}

function lastEventId({ headers }: OperationRequest): string | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : undefined
}
