import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, recordId, under } from '../admin-operations.ts'
import {
  ChangedTerms,
  NewTerms,
  TermsDocument,
  TermsList,
  TermsPath,
  TermsPublication,
  termsToJson,
} from './schema-documents.ts'
import type { TermsService } from './terms-service.ts'

const LIST = '/api/v1/admin/instance/terms_of_service'
const ONE = `${LIST}/:id`

export function termsRoutes(server: FastifyInstance, terms: TermsService, rateLimit: readonly RateRule[]): void {
  const admin = adminOperation(rateLimit)

  operation(server, {
    method: 'GET',
    ...under(LIST),
    operationId: 'ListInstanceTerms',
    summary: 'List the versions of the terms of service, newest first',
    ...admin,
    schema: { response: { 200: TermsList } },
    async handler(request) {
      return (await terms.list(callerOf(request))).map(termsToJson)
    },
  })

  operation(server, {
    method: 'POST',
    ...under(LIST),
    operationId: 'CreateInstanceTerms',
    summary: 'Begin a version of the terms of service',
    description: 'A draft, which nobody else sees until it is published.',
    ...admin,
    schema: { body: NewTerms, response: { 200: TermsDocument } },
    async handler(request) {
      return termsToJson(await terms.create(callerOf(request), request.body, clientOf(request)))
    },
  })

  operation(server, {
    method: 'PUT',
    url: ONE,
    operationId: 'UpdateInstanceTerms',
    summary: 'Change a draft of the terms of service',
    ...admin,
    schema: { params: TermsPath, body: ChangedTerms, response: { 200: TermsDocument } },
    async handler(request) {
      const input = { ...request.body, id: recordId(request.params.id) }
      return termsToJson(await terms.update(callerOf(request), input, clientOf(request)))
    },
  })

  operation(server, {
    method: 'DELETE',
    url: ONE,
    operationId: 'DeleteInstanceTerms',
    summary: 'Delete a draft of the terms of service',
    ...admin,
    schema: { params: TermsPath, response: { 200: Type.Object({}) } },
    async handler(request) {
      await terms.delete(callerOf(request), { id: recordId(request.params.id) }, clientOf(request))
      return {}
    },
  })

  operation(server, {
    method: 'POST',
    ...under(`${ONE}/publish`),
    operationId: 'PublishInstanceTerms',
    summary: 'Publish a draft of the terms of service',
    description: 'From then on it never changes.',
    ...admin,
    schema: { params: TermsPath, body: TermsPublication, response: { 200: TermsDocument } },
    async handler(request) {
      const { effective_date: effectiveDate, changelog } = request.body
      const input = { id: recordId(request.params.id), effectiveDate, changelog }
      return termsToJson(await terms.publish(callerOf(request), input, clientOf(request)))
    },
  })
}
