import type { FastifyInstance } from 'fastify'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, under } from '../admin-operations.ts'
import type { DocumentService } from './document-service.ts'
import { DocumentBody, DocumentDocument, documentToJson } from './schema-documents.ts'

const DOCUMENTS = [
  { kind: 'extended_description', name: 'ExtendedDescription', what: 'the extended description' },
  { kind: 'privacy_policy', name: 'PrivacyPolicy', what: 'the privacy policy' },
] as const

export function documentRoutes(
  server: FastifyInstance,
  documents: DocumentService,
  rateLimit: readonly RateRule[],
): void {
  const admin = adminOperation(rateLimit)
  for (const { kind, name, what } of DOCUMENTS) {
    const path = under(`/api/v1/admin/instance/${kind}`)

    operation(server, {
      method: 'GET',
      ...path,
      operationId: `GetInstance${name}`,
      summary: `Get ${what} with its markdown`,
      ...admin,
      schema: { response: { 200: DocumentDocument } },
      async handler(request) {
        return documentToJson(await documents.get(callerOf(request), { kind }))
      },
    })

    operation(server, {
      method: 'PUT',
      ...path,
      operationId: `PutInstance${name}`,
      summary: `Write ${what}`,
      description: 'An empty text returns to the default.',
      ...admin,
      schema: { body: DocumentBody, response: { 200: DocumentDocument } },
      async handler(request) {
        const input = { kind, text: request.body.text }
        return documentToJson(await documents.put(callerOf(request), input, clientOf(request)))
      },
    })
  }
}
