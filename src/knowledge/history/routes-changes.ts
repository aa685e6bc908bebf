import type { FastifyInstance, FastifyReply } from 'fastify'
import { goneSignal } from '../../platform/http/gone-signal.ts'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { projectUrls } from '../project/urls.ts'
import { readChanges } from './changes-feed.ts'
import { ChangesDocument, ChangesQuery, changeDocument } from './schema-history.ts'

const DEFAULT_CHANGES = 100

export function changesRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  // Whoever waits is answered at once when the server stops.
  const closing = new AbortController()
  server.addHook('preClose', async () => closing.abort())

  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/changes'),
    operationId: 'ListChanges',
    summary: 'List what changed since the last question',
    description:
      'The last change of each note, oldest first. Without `since`, of all notes there are and of those deleted lately. Ask again with `cursor`, which is good for 90 days: 410 when it is too old to be complete.',
    surface: 'knowledge',
    access: 'notes_read',
    rateLimit: null,
    cacheControl: 'no-store',
    schema: { params: ProjectPath, querystring: ChangesQuery, response: { 200: ChangesDocument } },
    async handler(request, reply) {
      const { since, limit = DEFAULT_CHANGES, wait = 0 } = request.query
      const question = { projectId: request.params.project_id, since, limit, waitMs: wait * 1000 }
      const { changes, cursor, hasMore } = await readChanges(deps, question, endOf(reply, closing.signal))
      return { changes: changes.map(changeDocument), cursor, has_more: hasMore }
    },
  })
}

function endOf({ raw }: FastifyReply, closing: AbortSignal): AbortSignal {
  return AbortSignal.any([goneSignal(raw), closing])
}
