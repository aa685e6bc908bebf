import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
} from 'fastify'
import type { TSchema } from 'typebox'
import { named } from '../logging/logger.ts'
import { BODY_MEMORY_BYTES } from '../memory/body-room.ts'
import { SharedMemory } from '../memory/shared-memory.ts'
import { lazyJsonWriter } from './answer/json-writer.ts'
import { AccessLog } from './connection/access-log.ts'
import { answerClientError } from './connection/client-error.ts'
import { trusting } from './connection/forwarded-address.ts'
import { createNodeServer } from './connection/node-server.ts'
import { endConnections } from './connection/open-connections.ts'
import { requestIdFor } from './connection/request-id.ts'
import { type HttpRequest, HttpResponse, type RouteLabel } from './connection/response.ts'
import { answerError } from './failure/error-handler.ts'
import { bodyParser } from './input/body-parser.ts'
import { takeEmptyBody } from './input/empty-body.ts'
import { JSON_TYPES, parseJsonBody } from './input/json-body.ts'
import type { JsonSchema } from './input/problem-texts.ts'
import { SchemaCheck } from './input/schema-check.ts'
import { TextValues } from './input/text-values.ts'
import { type HttpDeps, type HttpPlatform, originOf, type PathEntry } from './platform.ts'
import { platformRoutes } from './platform-routes.ts'
import { RouteIndex } from './route/route-index.ts'
import { routeLabel } from './route/route-label.ts'
import { answerUnknownRoute } from './route/unknown-route.ts'

/**
 * The HTTP server without its features: they register their operations on it, then it listens (listen.ts). The life of
 * a request: node-server.ts → the router → guard.ts → body and schema → the handler → send-hook.ts; whatever is thrown
 * on the way ends in error-handler.ts.
 */
export async function createHttpServer(deps: HttpDeps): Promise<FastifyInstance> {
  const log = named(deps.log, 'http')
  const accessLines = new AccessLog({ log, clock: deps.clock, isOn: deps.accessLog ?? true })
  const noRoute = routeLabel(deps, 'none', '(none)')
  const shortcuts: HttpPlatform['shortcuts'] = new Map()

  const server = fastify({
    serverFactory: (handle) => createNodeServer(deps.settings, accessLines, { noRoute, shortcuts }, handle),
    genReqId: (raw) => (raw as unknown as HttpRequest).requestId || requestIdFor(raw.headers['x-request-id']),
    clientErrorHandler: (error, socket) => answerClientError(error as Error, socket),
    // The access log and the error handler write what is to be written; a logger per request costs too much.
    logger: false,
    // Nothing of ours waits while it is registered, and every route would set a timer of its own.
    pluginTimeout: 0,
    trustProxy: deps.settings.trusted_proxies.length === 0 ? false : trusting(deps.settings.trusted_proxies),
    bodyLimit: deps.settings.body_limit,
    // A request on a connection that is about to close is answered like any other, and told to close.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: deps.settings.header_limit },
    frameworkErrors: (error, request, reply) =>
      answerError(platform, error, request as FastifyRequest, reply as FastifyReply),
  })
  const platform: HttpPlatform = {
    ...deps,
    log,
    bodyMemory: deps.bodyMemory ?? new SharedMemory(BODY_MEMORY_BYTES),
    accessLines,
    operations: new Map(),
    paths: new RouteIndex<PathEntry>(),
    shortcuts,
    origin: originOf(server, deps.settings.base_url),
  }
  server.addHttpMethod('QUERY', { hasBody: true, overrideExisting: true })
  server.decorate('platform', platform)
  server.decorateRequest('principal', null)
  server.setErrorHandler((error, request, reply) => answerError(platform, error, request, reply))
  readBodies(server)
  judgeBySchema(server)
  labelOtherRoutes(server)

  server.setNotFoundHandler(unknownRouteHooks(platform, noRoute), () => {})
  server.addHook('preClose', async () => accessLines.close())
  endConnections(server, deps.clock)
  server.addHook('onClose', async () => accessLines.flush())
  platformRoutes(server)
  return server
}

/**
 * A request without a route is answered before its body is read: 404 whatever was sent. The framework takes every
 * hook for its not-found route, though its types name only two of them; a hook for all routes would cost all of them.
 */
function unknownRouteHooks(platform: HttpPlatform, label: RouteLabel): Record<string, never> {
  const onRequest: onRequestHookHandler = (request, reply, done) => {
    answerUnknownRoute(platform, label, request, reply).catch(done)
  }
  return { onRequest } as Record<string, unknown> as Record<string, never>
}

function readBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', takeEmptyBody)
  server.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, bodyParser(parseJsonBody))
}

function judgeBySchema(server: FastifyInstance): void {
  server.setSerializerCompiler(({ schema }) => lazyJsonWriter(schema as JsonSchema))
  server.setValidatorCompiler(({ schema, httpPart }) => {
    if (httpPart === 'querystring' || httpPart === 'params') {
      const values = new TextValues(schema as TSchema, httpPart === 'params' ? 'path' : 'query')
      return (data) => values.read((data ?? {}) as Record<string, string>)
    }
    const check = new SchemaCheck(schema as TSchema, 'body')
    return (data) => (check.passes(data) ? true : { error: check.explain(data) })
  })
}

/** Routes that are no operation, such as those of the RPC adapter, are counted under their pattern. */
function labelOtherRoutes(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    if (route.config?.operation !== undefined) return
    const label = routeLabel(server.platform, route.url, route.url)
    const before = route.onRequest === undefined ? [] : [route.onRequest].flat()
    route.onRequest = [
      (_request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        if (reply.raw instanceof HttpResponse) reply.raw.label = label
        done()
      },
      ...before,
    ] as typeof route.onRequest
  })
}
