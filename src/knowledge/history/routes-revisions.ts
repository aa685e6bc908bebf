import type { FastifyInstance } from 'fastify'
import { AppError } from '../../platform/errors/app-error.ts'
import { operation } from '../../platform/http/operation.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { answerNote } from '../note/answer-note.ts'
import { preconditionsOf } from '../note/preconditions.ts'
import { EntityDocument, NotePath, placeOf } from '../note/schema-notes.ts'
import { writerOf } from '../note/writer-of.ts'
import { projectUrls } from '../project/urls.ts'
import { RevisionService } from './revision-service.ts'
import {
  DEFAULT_LIMIT,
  DiffDocument,
  DiffQuery,
  decodeNumbers,
  encodeNumbers,
  PageQuery,
  RestoreBody,
  RevisionDocument,
  RevisionPath,
  RevisionsDocument,
  revisionDocument,
} from './schema-history.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const
const WRITE = { surface: 'knowledge', access: 'notes_write', rateLimit: null } as const
const VERSION = /^[1-9]\d{0,14}$/

export function revisionRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const revisions = new RevisionService(deps)

  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/entities/:entity_id/revisions'),
    operationId: 'ListRevisions',
    summary: 'List the versions of a note',
    description: 'Newest first; the first is the current one.',
    ...READ,
    schema: { params: NotePath, querystring: PageQuery, response: { 200: RevisionsDocument } },
    async handler({ params, query }) {
      const below = query.cursor === undefined ? null : (decodeNumbers(query.cursor, 1)[0] as number)
      const page = await revisions.list(placeOf(params), query.limit ?? DEFAULT_LIMIT, below)
      return {
        revisions: page.revisions.map((revision) => revisionDocument(revision, page.current)),
        next_cursor: page.next === null ? null : encodeNumbers(page.next),
      }
    },
  })

  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/entities/:entity_id/revisions/:version'),
    operationId: 'GetRevision',
    summary: 'Get a version of a note with its text',
    ...READ,
    schema: { params: RevisionPath, response: { 200: RevisionDocument } },
    async handler({ params }) {
      const { current, content, ...revision } = await revisions.get(placeOf(params), versionOf(params.version))
      return { ...revisionDocument(revision, current), content }
    },
  })

  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/entities/:entity_id/revisions/diff', '/knowledge/entities/:entity_id/diff'),
    operationId: 'DiffRevisions',
    summary: 'Compare two versions of a note',
    description: 'Without parameters, what the last change did.',
    ...READ,
    schema: { params: NotePath, querystring: DiffQuery, response: { 200: DiffDocument } },
    async handler({ params, query }) {
      const { from, to, text, added, removed } = await revisions.diff(placeOf(params), query)
      return { from, to, diff: text, lines_added: added, lines_removed: removed }
    },
  })

  operation(server, {
    method: 'POST',
    ...projectUrls('/knowledge/entities/:entity_id/restore', '/knowledge/entities/:entity_id/revisions/restore'),
    operationId: 'RestoreRevision',
    summary: 'Give a note the text of an earlier version',
    description:
      'Makes a new version; the path of the note stays as it is. If-Match: 412 when the note is another by now.',
    ...WRITE,
    sends: ['ETag'],
    conditions: ['If-Match'],
    schema: { params: NotePath, body: RestoreBody, response: { 200: EntityDocument } },
    async handler(request, reply) {
      const { params, body, headers } = request
      const place = placeOf(params)
      const document = await revisions.restore(writerOf(request), place, body.version, preconditionsOf(headers))
      return answerNote(reply, document)
    },
  })
}

function versionOf(text: string): number {
  if (VERSION.test(text)) return Number(text)
  throw new AppError('not_found', `Version ${shownId(text)} of the note was not found: versions are numbers from 1`)
}
