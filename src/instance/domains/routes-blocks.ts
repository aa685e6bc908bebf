import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, recordId, under } from '../admin-operations.ts'
import type { BlockService } from './block-service.ts'
import { PageQuery, pageBounds, pageLinks } from './id-page.ts'
import { BlockDocument, BlockList, BlockPath, blockToJson, ChangedBlock, NewBlock, readRules } from './schema-blocks.ts'

const LIST = '/api/v1/admin/domain_blocks'
const ONE = `${LIST}/:id`

export function blockRoutes(
  server: FastifyInstance,
  blocks: BlockService,
  { rateLimit, baseUrl }: { rateLimit: readonly RateRule[]; baseUrl(): string },
): void {
  const admin = adminOperation(rateLimit)

  operation(server, {
    method: 'GET',
    ...under(LIST),
    operationId: 'ListDomainBlocks',
    summary: 'List domain blocks, newest first',
    description: 'The Link header leads to the pages after and before.',
    ...admin,
    sends: ['Link'],
    schema: { querystring: PageQuery, response: { 200: BlockList } },
    async handler(request, reply) {
      const bounds = pageBounds(request.query)
      const page = await blocks.list(callerOf(request), bounds)
      const links = pageLinks(`${baseUrl()}${LIST}`, bounds, page)
      if (links !== undefined) reply.header('link', links)
      return page.map(blockToJson)
    },
  })

  operation(server, {
    method: 'POST',
    ...under(LIST),
    operationId: 'CreateDomainBlock',
    summary: 'Block a domain',
    description: 'A domain that an equal or stricter block covers already is refused; the answer shows that block.',
    ...admin,
    schema: { body: NewBlock, response: { 200: BlockDocument } },
    async handler(request) {
      const input = { domain: request.body.domain, rules: readRules(request.body) }
      return blockToJson(await blocks.create(callerOf(request), input, clientOf(request)))
    },
  })

  operation(server, {
    method: 'GET',
    url: ONE,
    operationId: 'GetDomainBlock',
    summary: 'Get a domain block',
    ...admin,
    schema: { params: BlockPath, response: { 200: BlockDocument } },
    async handler(request) {
      return blockToJson(await blocks.get(callerOf(request), { id: recordId(request.params.id) }))
    },
  })

  operation(server, {
    method: 'PUT',
    url: ONE,
    operationId: 'UpdateDomainBlock',
    summary: 'Change a domain block',
    description: 'What is absent stays; the domain always does.',
    ...admin,
    schema: { params: BlockPath, body: ChangedBlock, response: { 200: BlockDocument } },
    async handler(request) {
      const { domain } = request.body
      const input = { id: recordId(request.params.id), domain, rules: readRules(request.body) }
      return blockToJson(await blocks.update(callerOf(request), input, clientOf(request)))
    },
  })

  operation(server, {
    method: 'DELETE',
    url: ONE,
    operationId: 'DeleteDomainBlock',
    summary: 'Lift a domain block',
    ...admin,
    schema: { params: BlockPath, response: { 200: Type.Object({}) } },
    async handler(request) {
      await blocks.delete(callerOf(request), { id: recordId(request.params.id) }, clientOf(request))
      return {}
    },
  })
}
