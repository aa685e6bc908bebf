/** Connect and gRPC-Web on the main port, beside the REST routes. */
import { Code } from '@connectrpc/connect'
import { codeToString } from '@connectrpc/connect/protocol-connect'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { plainAddress } from '../http/connection/client-address.ts'
import { HttpResponse } from '../http/connection/response.ts'
import type { Offer, PathEntry } from '../http/platform.ts'
import type { RouteIndex } from '../http/route/route-index.ts'
import { answerCall } from './answer-call.ts'
import type { Peer } from './call.ts'
import type { Rpc } from './create-rpc.ts'

const OFFER: Offer = { surface: 'platform', rateLimit: null, withoutHead: true }

export async function registerRpc(server: FastifyInstance, rpc: Rpc, paths: RouteIndex<PathEntry>): Promise<void> {
  // A scope of its own: in here no body is parsed before the handler, whatever its type.
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))
    scope.addHook('preClose', async () => rpc.drain())

    for (const handler of rpc.handlers('main')) {
      const methods = handler.allowedMethods as ('GET' | 'POST')[]
      const entry = paths.at(handler.requestPath, () => new Map())
      for (const name of methods) entry.set(name, OFFER)
      scope.route({
        method: methods,
        url: handler.requestPath,
        exposeHeadRoute: false,
        // Connect checks a request against its .proto, and the RPC reference is not part of the OpenAPI document.
        schema: { hide: true } as object,
        config: { rpc: true } as object,
        handler(request, reply) {
          takeOver(reply)
          void answerCall(rpc, handler, request.raw, reply.raw, peerOf(request, reply))
        },
      })
    }
    for (const name of rpc.serviceNames) {
      scope.route({
        method: 'POST',
        url: `/${name}/*`,
        schema: { hide: true } as object,
        config: { rpc: true } as object,
        handler: (request, reply) => answerUnknownMethod(request, reply),
      })
    }
  })
}

function peerOf(request: FastifyRequest, { raw }: FastifyReply): Peer {
  return {
    onIdentified(principal) {
      if (raw instanceof HttpResponse) raw.principalId = principal.userId ?? principal.kind
    },
    port: 'main',
    remoteAddress: request.socket.remoteAddress ?? '',
    clientAddress: plainAddress(request.ip),
    authority: request.headers.host ?? '',
    requestId: request.id,
  }
}

/** The answer is written to the raw response, so the headers that hooks have set must get there by hand. */
function takeOver(reply: FastifyReply): void {
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
}

function answerUnknownMethod(request: FastifyRequest, reply: FastifyReply) {
  const message = 'This service has no such method.'
  const contentType = request.headers['content-type'] ?? ''
  if (contentType.startsWith('application/grpc-web')) {
    return reply
      .header('content-type', contentType)
      .header('grpc-status', Code.Unimplemented)
      .header('grpc-message', message)
      .send()
  }
  return reply.code(404).send({ code: codeToString(Code.Unimplemented), message })
}
