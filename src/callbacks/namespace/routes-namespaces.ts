import { create } from '@bufbuild/protobuf'
import type { FastifyInstance } from 'fastify'
import {
  CreateNamespaceRequestSchema,
  DeleteNamespaceResponseSchema,
  ListNamespacesRequestSchema,
  ListNamespacesResponseSchema,
  NamespaceSchema,
  UpdateNamespaceRequestSchema,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { operation } from '../../platform/http/operation.ts'
import { readDeadline } from '../http/http-call.ts'
import { BINARY_TYPE } from '../http/message-body.ts'
import { type QueryValues, readQueryRequest } from '../wire/read-request.ts'
import { documentHandler, readDocument } from './document-forms.ts'
import type { ShownNamespace } from './namespace.ts'
import {
  namespaceMessage,
  namespacePageMessage,
  pageTokenText,
  readNamespaceChangeMessage,
  readNewNamespaceMessage,
} from './namespace-message.ts'
import type { ChangedNamespace, NamespaceService } from './namespace-service.ts'
import { readNamespaceChange, readNewNamespace } from './namespace-wish.ts'
import {
  Empty,
  NamespaceDocument,
  NamespaceFlags,
  NamespaceList,
  NamespaceListQuery,
  NamespacePath,
  namespaceChangeBody,
  namespaceToJson,
  newNamespaceBody,
} from './schema-namespaces.ts'

const LIST = '/namespaces'
const ONE = '/namespaces/:namespace'
const COMMON = { surface: 'callbacks', rateLimit: null, deadlineMs: readDeadline, alsoAs: BINARY_TYPE } as const
const READ = { ...COMMON, access: 'callbacks_read' } as const
const CHANGE = { ...COMMON, access: 'org_management', bodyLimit: 4_194_304 } as const

function under(url: string) {
  return { url, aliases: [`/api/v1${url}`] }
}

/** In a scope made by `messageScope`. */
export function namespaceRoutes(scope: FastifyInstance, namespaces: NamespaceService): void {
  const { clock } = scope.platform

  operation(scope, {
    method: 'GET',
    ...under(LIST),
    operationId: 'ListNamespaces',
    summary: 'List namespaces, oldest first',
    ...READ,
    schema: { querystring: NamespaceListQuery, response: { 200: NamespaceList } },
    handler: documentHandler(clock, async ({ query }, { principal }) => {
      const wish = readQueryRequest(ListNamespacesRequestSchema, query as QueryValues, {})
      const page = await namespaces.list(principal, {
        pageSize: wish.pageSize,
        pageToken: pageTokenText(wish.nextPageToken),
      })
      return {
        desc: ListNamespacesResponseSchema,
        message: () => namespacePageMessage(page),
        json: () => ({
          namespaces: page.namespaces.map((one) => namespaceToJson(one)),
          nextPageToken: page.nextPageToken ?? undefined,
        }),
      }
    }),
  })

  operation(scope, {
    method: 'POST',
    ...under(LIST),
    operationId: 'CreateNamespace',
    summary: 'Create a namespace',
    ...CHANGE,
    schema: { querystring: NamespaceFlags, body: newNamespaceBody('both'), response: { 200: NamespaceDocument } },
    handler: documentHandler(clock, async (request, { principal, client }, reply) => {
      const wish = readDocument(request, CreateNamespaceRequestSchema, readNewNamespaceMessage, readNewNamespace)
      const made = await namespaces.create(principal, wish, client)
      if (made.generatedSecret !== null) reply.header('cache-control', 'private, no-store')
      return forms(made)
    }),
  })

  operation(scope, {
    method: 'GET',
    ...under(ONE),
    operationId: 'DescribeNamespace',
    summary: 'Get a namespace with the values in effect',
    ...READ,
    schema: { params: NamespacePath, querystring: NamespaceFlags, response: { 200: NamespaceDocument } },
    handler: documentHandler(clock, async (request, { principal }) =>
      forms(await namespaces.get(principal, { name: nameIn(request) })),
    ),
  })

  operation(scope, {
    method: 'PATCH',
    ...under(ONE),
    operationId: 'UpdateNamespace',
    summary: 'Change a namespace',
    description: 'What is absent stays. A change holds for the next decision, not for delays that are stored already.',
    ...CHANGE,
    schema: {
      params: NamespacePath,
      querystring: NamespaceFlags,
      body: namespaceChangeBody('both'),
      response: { 200: NamespaceDocument },
    },
    handler: documentHandler(clock, async (request, { principal, client }, reply) => {
      const wish = readDocument(request, UpdateNamespaceRequestSchema, readNamespaceChangeMessage, readNamespaceChange)
      const changed = await namespaces.update(principal, { ...wish, name: nameIn(request) }, client)
      if (changed.generatedSecret !== null) reply.header('cache-control', 'private, no-store')
      return forms(changed)
    }),
  })

  operation(scope, {
    method: 'DELETE',
    ...under(ONE),
    operationId: 'DeleteNamespace',
    summary: 'Delete a namespace in which nothing runs',
    description: 'Its name is free at once; its closed callbacks are removed in the background.',
    ...CHANGE,
    schema: { params: NamespacePath, querystring: NamespaceFlags, response: { 200: Empty } },
    handler: documentHandler(clock, async (request, { principal, client }) => {
      await namespaces.delete(principal, { name: nameIn(request) }, client)
      const desc = DeleteNamespaceResponseSchema
      return { desc, message: () => create(desc), json: () => ({}) }
    }),
  })
}

function nameIn({ params }: { params: unknown }): string {
  return (params as { namespace: string }).namespace
}

function forms(shown: ShownNamespace & Partial<ChangedNamespace>) {
  const secret = shown.generatedSecret ?? null
  const message = () => namespaceMessage(shown, secret)
  return { desc: NamespaceSchema, message, json: () => namespaceToJson(shown, secret) }
}
