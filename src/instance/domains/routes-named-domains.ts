import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, under } from '../admin-operations.ts'
import { PageQuery, pageBounds, pageLinks } from './id-page.ts'
import type { NamedDomainService } from './named-domain-service.ts'
import type { NamedDomain } from './named-domains.ts'

const NamedDomainDocument = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
})
const NamedDomainBody = Type.Object({
  domain: Type.String({ description: 'In any script.', documented: { minLength: 1 } }),
})
const NamedDomainPath = Type.Object({ domain: Type.String({ description: 'In any script.' }) })

export interface NamedDomainRoutes {
  path: string
  /** `DomainAllow` */
  name: string
  /** `allowed domains`, `an allowed domain` */
  many: string
  one: string
  domains: NamedDomainService
}

export function namedDomainRoutes(
  server: FastifyInstance,
  { path, name, many, one, domains }: NamedDomainRoutes,
  { rateLimit, baseUrl }: { rateLimit: readonly RateRule[]; baseUrl(): string },
): void {
  const admin = adminOperation(rateLimit)

  operation(server, {
    method: 'GET',
    ...under(path),
    operationId: `List${name}s`,
    summary: `List the ${many}, newest first`,
    description: 'The Link header leads to the pages after and before.',
    ...admin,
    sends: ['Link'],
    schema: { querystring: PageQuery, response: { 200: Type.Array(NamedDomainDocument) } },
    async handler(request, reply) {
      const bounds = pageBounds(request.query)
      const page = await domains.list(callerOf(request), bounds)
      const links = pageLinks(`${baseUrl()}${path}`, bounds, page)
      if (links !== undefined) reply.header('link', links)
      return page.map(toJson)
    },
  })

  operation(server, {
    method: 'POST',
    ...under(path),
    operationId: `Create${name}`,
    summary: `Add ${one}`,
    ...admin,
    schema: { body: NamedDomainBody, response: { 200: NamedDomainDocument } },
    async handler(request) {
      return toJson(await domains.add(callerOf(request), request.body, clientOf(request)))
    },
  })

  operation(server, {
    method: 'DELETE',
    url: `${path}/:domain`,
    operationId: `Delete${name}`,
    summary: `Remove ${one}`,
    ...admin,
    schema: { params: NamedDomainPath, response: { 200: Type.Object({}) } },
    async handler(request) {
      await domains.remove(callerOf(request), request.params, clientOf(request))
      return {}
    },
  })
}

function toJson({ id, domain, createdAt }: NamedDomain) {
  return { id: String(id), domain, created_at: toRfc3339(createdAt) }
}
