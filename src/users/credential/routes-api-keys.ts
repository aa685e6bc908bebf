import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId, requireSameId } from '../../platform/http/route/path-id.ts'
import type { UsersDeps } from '../deps.ts'
import { pageOf, sortOf } from '../page.ts'
import { pageMeta } from '../wire.ts'
import { ApiKeyService } from './api-key-service.ts'
import type { ApiKeySort } from './credential.ts'
import { CredentialService } from './credential-service.ts'
import { keepMadeKey } from './keep-made-key.ts'
import {
  ApiKeyCreateBody,
  ApiKeyListQuery,
  ApiKeyUpdateBody,
  apiKeySchemas,
  apiKeyToWire,
  withSecret,
} from './schema-keys.ts'

const ALL = '/api/v2/api_keys'
const ONE = '/api/v2/api_keys/:id'
const KeyPath = Type.Object({ id: Type.String() })
const READ = { surface: 'users', access: 'api_keys_read', rateLimit: 'users_read' } as const
const WRITE = { surface: 'users', access: 'api_keys_write', rateLimit: 'users_write' } as const

export function apiKeyRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const keys = new ApiKeyService(deps)
  const credentials = new CredentialService(deps)

  operation(server, {
    method: 'GET',
    url: ALL,
    operationId: 'ListAPIKeys',
    summary: 'List the API keys of the organization',
    ...READ,
    schema: { querystring: ApiKeyListQuery, response: { 200: apiKeySchemas.list } },
    async handler(request) {
      const { query } = request
      const list = await keys.list(callerOf(request), {
        page: pageOf(query),
        sort: sortOf<ApiKeySort>(query.sort ?? 'name'),
        filter: query.filter,
      })
      return { data: list.items.map(apiKeyToWire), meta: pageMeta(list) }
    },
  })

  operation(server, {
    method: 'POST',
    url: ALL,
    operationId: 'CreateAPIKey',
    summary: 'Create an API key',
    description: 'The answer is the only one that shows the key.',
    ...WRITE,
    schema: { body: ApiKeyCreateBody, response: { 201: apiKeySchemas.minted } },
    async handler(request, reply) {
      const { name } = request.body.data.attributes
      const key = await credentials.createApiKey(
        callerOf(request),
        { name },
        clientOf(request),
        keepMadeKey(request, apiKeyToWire),
      )
      return reply.code(201).send({ data: withSecret(apiKeyToWire(key), key.plain) })
    },
  })

  operation(server, {
    method: 'GET',
    url: ONE,
    operationId: 'GetAPIKey',
    summary: 'Get an API key',
    ...READ,
    schema: { params: KeyPath, response: { 200: apiKeySchemas.document } },
    async handler(request) {
      return { data: apiKeyToWire(await keys.get(callerOf(request), pathId('API key', request.params.id))) }
    },
  })

  operation(server, {
    method: 'PATCH',
    url: ONE,
    operationId: 'UpdateAPIKey',
    summary: 'Rename an API key',
    ...WRITE,
    schema: { params: KeyPath, body: ApiKeyUpdateBody, response: { 200: apiKeySchemas.document } },
    async handler(request) {
      const { id, attributes } = request.body.data
      requireSameId(id, request.params.id)
      const input = { id: pathId('API key', request.params.id), name: attributes.name }
      return { data: apiKeyToWire(await keys.rename(callerOf(request), input, clientOf(request))) }
    },
  })

  operation(server, {
    method: 'DELETE',
    url: ONE,
    operationId: 'DeleteAPIKey',
    summary: 'Revoke an API key',
    ...WRITE,
    schema: { params: KeyPath, response: { 204: null } },
    async handler(request, reply) {
      await keys.revoke(callerOf(request), pathId('API key', request.params.id), clientOf(request))
      return reply.code(204).send()
    },
  })
}
