import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import type { NoteRef } from '../note/note.ts'
import { NotePath, placeOf } from '../note/schema-notes.ts'
import { projectUrls } from '../project/urls.ts'
import { readBacklinks } from './backlinks.ts'

const nullableText = Type.Union([Type.String(), Type.Null()])

const noteFields = {
  external_id: Type.String(),
  entity_id: Type.Integer(),
  title: Type.String(),
  permalink: nullableText,
  file_path: Type.String(),
}

const BacklinksQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
})

const BacklinksAnswer = Type.Object({
  backlinks: Type.Array(
    Type.Object({
      ...noteFields,
      relation_type: Type.String(),
      context: nullableText,
      anchor: nullableText,
      display: nullableText,
      snippet: Type.Union([Type.String(), Type.Null()], { description: 'The text around the link.' }),
    }),
  ),
  unlinked_mentions: Type.Array(Type.Object({ ...noteFields, snippet: Type.String() })),
  page: Type.Integer(),
  page_size: Type.Integer(),
  has_more: Type.Boolean(),
})

export function backlinkRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  operation(server, {
    method: 'GET',
    ...projectUrls('/knowledge/entities/:entity_id/backlinks'),
    operationId: 'ListBacklinks',
    summary: 'List the links to a note, with the text around them',
    description:
      'Oldest linking notes first. The first page also has up to 20 notes that name the title without linking to it.',
    surface: 'knowledge',
    access: 'notes_read',
    rateLimit: null,
    schema: { params: NotePath, querystring: BacklinksQuery, response: { 200: BacklinksAnswer } },
    async handler(request) {
      const { page = 1, page_size: pageSize = 20 } = request.query
      const found = await readBacklinks(deps, placeOf(request.params), { page, pageSize })
      return {
        backlinks: found.backlinks.map(({ note, relationType, context, anchor, display, snippet }) => ({
          ...noteToWire(note),
          relation_type: relationType,
          context,
          anchor,
          display,
          snippet,
        })),
        unlinked_mentions: found.mentions.map(({ note, snippet }) => ({ ...noteToWire(note), snippet })),
        page,
        page_size: pageSize,
        has_more: found.hasMore,
      }
    },
  })
}

function noteToWire({ id, external_id, title, permalink, file_path }: NoteRef) {
  return { external_id, entity_id: id, title, permalink, file_path }
}
