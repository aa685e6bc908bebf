import type { FastifyInstance } from 'fastify'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { projectUrls } from '../project/urls.ts'
import type { SearchService } from '../search/search-service.ts'
import { PromptService } from './prompt-service.ts'
import {
  ContinueBody,
  ContinueDocument,
  promptDocument,
  SearchPromptBody,
  SearchPromptDocument,
} from './schema-prompt.ts'

const READ = { surface: 'knowledge', access: 'notes_read', rateLimit: null } as const
const BODY_LIMIT = 64 * 1024
const NOTES = { limit: 5, depth: 1, maxRelated: 5 }
const NOTES_OF_SEARCH = { ...NOTES, limit: 10 }

export function promptRoutes(server: FastifyInstance, deps: KnowledgeDeps, search: SearchService): void {
  const service = new PromptService(deps, search)

  operation(server, {
    method: 'POST',
    ...projectUrls('/prompt/continue-conversation'),
    operationId: 'WriteContinuePrompt',
    summary: 'Write a prompt to go on with a topic',
    description:
      'A text for an agent: notes about the topic, or those that changed lately, with an excerpt, their facts and relations, and how to read, search and write more. The same notes are in `context`.',
    ...READ,
    bodyLimit: BODY_LIMIT,
    schema: { params: ProjectPath, body: ContinueBody, response: { 200: ContinueDocument } },
    async handler({ params, body }) {
      const { search_items_limit: limit, depth, related_items_limit: maxRelated } = body
      const asked = {
        projectId: params.project_id,
        purpose: 'continue' as const,
        topic: body.topic ?? '',
        timeframe: body.timeframe ?? null,
        limit: limit ?? NOTES.limit,
        depth: depth ?? NOTES.depth,
        maxRelated: maxRelated ?? NOTES.maxRelated,
      }
      const prompt = await service.write(asked)
      const { context, ...rest } = promptDocument(prompt, asked)
      return { ...rest, context: { topic: prompt.topic, ...context } }
    },
  })

  operation(server, {
    method: 'POST',
    ...projectUrls('/prompt/search'),
    operationId: 'WriteSearchPrompt',
    summary: 'Write a prompt about what a search finds',
    description:
      'A text for an agent: the ten best notes for the query, each with an excerpt, its facts and relations. The same notes are in `context`.',
    ...READ,
    bodyLimit: BODY_LIMIT,
    schema: { params: ProjectPath, body: SearchPromptBody, response: { 200: SearchPromptDocument } },
    async handler({ params, body }) {
      const asked = {
        projectId: params.project_id,
        purpose: 'search' as const,
        topic: body.query,
        timeframe: body.timeframe ?? null,
        ...NOTES_OF_SEARCH,
      }
      const prompt = await service.write(asked)
      const { context, ...rest } = promptDocument(prompt, asked)
      return { ...rest, context: { query: prompt.topic, ...context } }
    },
  })
}
