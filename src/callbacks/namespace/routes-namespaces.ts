import type { FastifyInstance, FastifyReply } from 'fastify'
import { callerOf } from '../../platform/http/caller-of.ts'
import { clientOf } from '../../platform/http/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { type ChangedNamespace, NamespaceService, type NamespaceServiceOptions } from './namespace-service.ts'
import { readNamespaceChange, readNewNamespace } from './namespace-wish.ts'
import {
  Empty,
  NamespaceDocument,
  NamespaceList,
  NamespaceListQuery,
  NamespacePath,
  namespaceChangeBody,
  namespaceToJson,
  newNamespaceBody,
} from './schema-namespaces.ts'

const LIST = '/namespaces'
const ONE = '/namespaces/:namespace'
const READ = { surface: 'callbacks', access: 'callbacks_read', rateLimit: null } as const
const CHANGE = { surface: 'callbacks', access: 'org_management', rateLimit: null, bodyLimit: 4_194_304 } as const

function under(url: string) {
  return { url, aliases: [`/api/v1${url}`] }
}

export function namespaceRoutes(server: FastifyInstance, deps: NamespaceServiceOptions): void {
  const namespaces = new NamespaceService(deps)

  operation(server, {
    method: 'GET',
    ...under(LIST),
    operationId: 'ListNamespaces',
    summary: 'List namespaces, oldest first',
    ...READ,
    schema: { querystring: NamespaceListQuery, response: { 200: NamespaceList } },
    async handler(request) {
      const { pageSize, nextPageToken: pageToken } = request.query
      const page = await namespaces.list(callerOf(request), { pageSize, pageToken })
      return {
        namespaces: page.namespaces.map((one) => namespaceToJson(one)),
        nextPageToken: page.nextPageToken ?? undefined,
      }
    },
  })

  operation(server, {
    method: 'POST',
    ...under(LIST),
    operationId: 'CreateNamespace',
    summary: 'Create a namespace',
    ...CHANGE,
    schema: { body: newNamespaceBody('both'), response: { 200: NamespaceDocument } },
    async handler(request, reply) {
      const wish = readNewNamespace(request.body)
      return answer(reply, await namespaces.create(callerOf(request), wish, clientOf(request)))
    },
  })

  operation(server, {
    method: 'GET',
    ...under(ONE),
    operationId: 'DescribeNamespace',
    summary: 'Get a namespace with the values in effect',
    ...READ,
    schema: { params: NamespacePath, response: { 200: NamespaceDocument } },
    async handler(request) {
      return namespaceToJson(await namespaces.get(callerOf(request), { name: request.params.namespace }))
    },
  })

  operation(server, {
    method: 'PATCH',
    ...under(ONE),
    operationId: 'UpdateNamespace',
    summary: 'Change a namespace',
    description: 'What is absent stays. A change holds for the next decision, not for delays that are stored already.',
    ...CHANGE,
    schema: { params: NamespacePath, body: namespaceChangeBody('both'), response: { 200: NamespaceDocument } },
    async handler(request, reply) {
      const wish = { ...readNamespaceChange(request.body), name: request.params.namespace }
      return answer(reply, await namespaces.update(callerOf(request), wish, clientOf(request)))
    },
  })

  operation(server, {
    method: 'DELETE',
    ...under(ONE),
    operationId: 'DeleteNamespace',
    summary: 'Delete a namespace in which nothing runs',
    description: 'Its name is free at once; its closed callbacks are removed in the background.',
    ...CHANGE,
    schema: { params: NamespacePath, response: { 200: Empty } },
    async handler(request) {
      await namespaces.delete(callerOf(request), { name: request.params.namespace }, clientOf(request))
      return {}
    },
  })
}

function answer(reply: FastifyReply, changed: ChangedNamespace) {
  if (changed.generatedSecret !== null) reply.header('cache-control', 'private, no-store')
  return namespaceToJson(changed, changed.generatedSecret)
}
