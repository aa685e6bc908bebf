import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isAppError } from '../../platform/errors/app-error.ts'
import { matchesNone } from '../../platform/http/answer/etag.ts'
import { keepDone } from '../../platform/http/answer/idempotent.ts'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'
import { operation } from '../../platform/http/operation.ts'
import type { Remake } from '../../platform/idempotency/idempotency.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { projectUrls } from '../project/urls.ts'
import type { Edit } from '../text/edit/apply-edit.ts'
import { answerNote } from './answer-note.ts'
import { noteInput } from './entity-input.ts'
import { NoteService } from './note-service.ts'
import { preconditionsOf } from './preconditions.ts'
import { DeleteAnswer, EditBody, EntityDocument, EntityInput, NotePath, ProjectPath, placeOf } from './schema-notes.ts'
import { writerOf } from './writer-of.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const
const WRITE = { surface: 'knowledge', access: 'notes_write', rateLimit: null } as const

export function noteRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const notes = new NoteService(deps)

  /** What was made by a request whose answer could not be kept, as it is now. */
  async function createdNote(request: FastifyRequest, { status, headers }: Parameters<Remake>[0]) {
    const { project_id: projectId } = request.params as { project_id: string }
    const noteId = headers.location?.split('/').at(-1)
    if (noteId === undefined) return undefined
    const found = await notes.get({ projectId, noteId }).catch((error: unknown) => {
      if (isAppError(error, 'not_found')) return undefined
      throw error
    })
    return found && { status, headers: { ...headers, etag: found.etag }, body: found.body.toString() }
  }

  operation(server, {
    method: 'POST',
    ...projectUrls('/knowledge/entities'),
    operationId: 'CreateEntity',
    summary: 'Create a note',
    description:
      'Never changes a note that exists: 409 when its path, or one that differs only in spelling, is taken. The path is made from directory and title. Links of other notes that wait for this name are bound to it.',
    ...WRITE,
    idempotent: { isCallersOwn: true, remake: createdNote },
    sends: ['ETag', 'Location'],
    schema: { params: ProjectPath, body: EntityInput, response: { 201: EntityDocument } },
    async handler(request, reply) {
      const { project_id: projectId } = request.params
      const locationOf = (id: string) => `/v2/${projectId}/knowledge/entities/${id}`
      const document = await notes.create(
        writerOf(request),
        projectId,
        noteInput(request.body),
        (tx, { external_id: id }) => keepDone(tx, request, { status: 201, headers: { location: locationOf(id) } }),
      )
      reply.code(201)
      reply.header('location', locationOf(document.external_id))
      return answerNote(reply, document)
    },
  })

  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/entities/:entity_id'),
    operationId: 'GetEntity',
    summary: 'Get a note',
    description: 'With its text, its observations, and its relations in both directions.',
    ...READ,
    // The tag is of the text alone: a cache that asks by it would be told that a note is unchanged whose path or links are others.
    cacheControl: 'private, no-store',
    sends: ['ETag'],
    schema: { params: NotePath, response: { 200: EntityDocument } },
    async handler(request, reply) {
      const { etag, body } = await notes.get(placeOf(request.params))
      reply.header('etag', etag)
      if (matchesNone(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type(JSON_TYPE).send(body)
    },
  })

  operation(server, {
    method: 'PUT',
    ...projectUrls('/knowledge/entities/:entity_id'),
    operationId: 'PutEntity',
    summary: 'Replace a note, or create it with this id',
    description:
      'Title and directory decide the path, so this may move the note. The body is replaced; frontmatter that the request does not mention is kept, and null in entity_metadata takes a key away. The same again changes nothing. If-Match: 412 when the note is another by now.',
    ...WRITE,
    sends: ['ETag'],
    conditions: ['If-Match', 'If-None-Match'],
    schema: { params: NotePath, body: EntityInput, response: { 200: EntityDocument, 201: EntityDocument } },
    async handler(request, reply) {
      const { params, body, headers } = request
      const place = placeOf(params)
      const input = noteInput(body)
      const { isNew, document } = await notes.replace(writerOf(request), place, input, preconditionsOf(headers))
      if (isNew) reply.code(201)
      return answerNote(reply, document)
    },
  })

  operation(server, {
    method: 'PATCH',
    ...projectUrls('/knowledge/entities/:entity_id'),
    operationId: 'EditEntity',
    summary: 'Edit the text of a note',
    description:
      'The path stays; title, type and permalink in the edited frontmatter take effect. An edit that cannot be made is 400 and changes nothing. If-Match: 412 when the note is another by now.',
    ...WRITE,
    sends: ['ETag'],
    conditions: ['If-Match'],
    schema: { params: NotePath, body: EditBody, response: { 200: EntityDocument } },
    async handler(request, reply) {
      const { params, body, headers } = request
      const document = await notes.edit(writerOf(request), placeOf(params), body as Edit, preconditionsOf(headers))
      return answerNote(reply, document)
    },
  })

  operation(server, {
    method: 'DELETE',
    ...projectUrls('/knowledge/entities/:entity_id'),
    operationId: 'DeleteEntity',
    summary: 'Delete a note',
    description:
      'It can be restored from the trash for 30 days. Links to it wait until a note has its name again. An unknown note is answered with deleted: false.',
    ...WRITE,
    conditions: ['If-Match'],
    schema: { params: NotePath, response: { 200: DeleteAnswer } },
    async handler(request) {
      const { params, headers } = request
      return { deleted: await notes.delete(writerOf(request), placeOf(params), preconditionsOf(headers)) }
    },
  })
}
