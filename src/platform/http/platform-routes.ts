import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { operation } from './operation.ts'
import { docsPage } from './pages/docs-page.ts'
import { landingPage } from './pages/landing-page.ts'
import { openApiDocument } from './pages/openapi.ts'

const Status = Type.Object({ status: Type.String() })
const common = { surface: 'platform', tags: ['platform'], access: 'public', rateLimit: null } as const
const HTML = 'text/html; charset=utf-8'

/** What the server tells about itself, whichever features it has. */
export function platformRoutes(server: FastifyInstance): void {
  const { platform } = server
  healthRoutes(server)

  // Made when first asked for, when every operation is known, and kept: nothing changes while the server runs.
  let document: Buffer | undefined
  let page: Buffer | undefined

  operation(server, {
    ...common,
    method: 'GET',
    url: '/openapi.json',
    operationId: 'GetOpenApi',
    summary: 'Read this description as an OpenAPI 3.1 document',
    schema: { response: { 200: { contentType: 'application/json', description: 'The document' } } },
    etag: true,
    cacheControl: 'no-cache',
    handler(_request, reply) {
      document ??= Buffer.from(JSON.stringify(openApiDocument(platform)))
      return reply.type('application/json; charset=utf-8').send(document)
    },
  })

  operation(server, {
    ...common,
    method: 'GET',
    url: '/docs',
    operationId: 'GetDocs',
    summary: 'Read this description as a page',
    schema: { response: { 200: { contentType: HTML, description: 'The page' } } },
    etag: true,
    cacheControl: 'no-cache',
    page: true,
    handler(_request, reply) {
      page ??= Buffer.from(docsPage(openApiDocument(platform), platform.origin()))
      return reply.type(HTML).send(page)
    },
  })

  operation(server, {
    ...common,
    method: 'GET',
    url: '/',
    operationId: 'GetLandingPage',
    summary: 'See what this server is',
    schema: { response: { 200: { contentType: HTML, description: 'The page' } } },
    cacheControl: 'no-cache',
    page: true,
    handler: (_request, reply) => reply.type(HTML).send(landingPage(platform.version)),
  })
}

function healthRoutes(server: FastifyInstance): void {
  const { platform } = server

  operation(server, {
    ...common,
    method: 'GET',
    url: '/livez',
    operationId: 'GetLiveness',
    summary: 'Check that the process runs',
    schema: { response: { 200: Status } },
    cacheControl: 'no-store',
    handler: async () => ({ status: 'ok' }),
  })

  operation(server, {
    ...common,
    method: 'GET',
    url: '/readyz',
    operationId: 'GetReadiness',
    summary: 'Check that requests can be served',
    schema: { response: { 200: Status, 503: Status } },
    cacheControl: 'no-store',
    async handler(_request, reply) {
      if (platform.accessLines.isClosing()) return reply.code(503).send({ status: 'shutting down' })
      const readiness = await platform.readiness()
      if (readiness.ready) return { status: 'ready' }
      return reply.code(503).send({ status: `not ready: ${readiness.reason}` })
    },
  })

  operation(server, {
    ...common,
    method: 'GET',
    url: '/metrics',
    operationId: 'GetMetrics',
    summary: 'Read the metrics in the Prometheus text format',
    access: 'admin',
    schema: {
      response: { 200: { contentType: 'text/plain; version=0.0.4; charset=utf-8', description: 'The metrics' } },
    },
    cacheControl: 'no-store',
    async handler(_request, reply) {
      const { contentType, text } = await platform.metrics.render()
      return reply.type(contentType).send(text)
    },
  })
}
