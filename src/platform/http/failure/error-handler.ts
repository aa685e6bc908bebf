import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../errors/app-error.ts'
import { failureFacts } from '../../errors/failure-facts.ts'
import type { Logger } from '../../logging/logger.ts'
import { JSON_TYPE, VENDOR_TYPE, wantsVendorType } from '../answer/send-hook.ts'
import { answeredEarly } from '../connection/client-error.ts'
import type { HttpPlatform } from '../platform.ts'
import { routedPath, type Surface, surfaceOf } from '../surface.ts'
import { type ErrorAnswer, errorAnswer } from './error-shapes.ts'
import { toAppError } from './to-app-error.ts'

// A caller that is still sending when the answer is out gets this long to finish; closing at once would often
// destroy the answer on its way.
const DRAIN_MS = 2_000

/** The last stop of every error that a request runs into, framework's or ours. */
export function answerError(
  platform: HttpPlatform,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { status, headers, body } = errorDocument(platform, error, request)
  drain(platform, request, reply)
  // An error is no version of the document that the handler was about to send.
  reply.removeHeader('etag').removeHeader('content-encoding').removeHeader('content-disposition')
  reply.code(status).headers(headers)
  const text = JSON.stringify(body)
  // The framework adds a charset, which the type of JSON:API does not have, to every text, but not to bytes. For an
  // operation the type is settled later, by its hook.
  if (isOutsideOperations(request) && surfaceFor(request) === 'users' && wantsVendorType(request.headers.accept)) {
    reply.header('content-type', VENDOR_TYPE).send(Buffer.from(text))
  } else reply.header('content-type', JSON_TYPE).send(text)
}

function isOutsideOperations({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config?.operation === undefined
}

/** What a request is answered with when it fails by this, or a part of a request; a defect is in the log then. */
export function errorDocument(platform: HttpPlatform, error: unknown, request: FastifyRequest): ErrorAnswer {
  const surface = surfaceFor(request)
  const appError = toAppError(error, surface)
  logFailure(platform.log, appError, request.id, request.routeOptions.config?.operation?.operationId)
  return errorAnswer(surface, appError, request.id)
}

function surfaceFor({ routeOptions, raw }: FastifyRequest): Surface {
  return routeOptions.config?.operation?.surface ?? surfaceOf(routedPath(raw.url ?? '/'))
}

function logFailure(log: Logger, error: AppError, requestId: string, operation: string | undefined): void {
  // What is not offered here is the caller's mistake, and any caller could fill the log with it.
  if (error.httpStatus < 500 || error.code === 'unimplemented') return
  const entry = { ...failureFacts(error), request: requestId, operation }
  if (error.code === 'internal') log.error(entry, 'a request failed by a defect')
  else log.warn(entry, error.message)
}

/**
 * What is left of the body is read and dropped, within bounds, so that the connection stays in step. The framework
 * would close the connection behind a body that it cannot use: where that still comes the answer would often be lost with it,
 * and where it has come there is no need.
 */
function drain({ clock }: HttpPlatform, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  const { socket } = raw
  const isLeft = !raw.complete && !raw.destroyed && socket !== undefined
  // Only where it is: Node would say nothing about a connection that ends for another reason.
  if (reply.hasHeader('connection')) reply.removeHeader('connection')
  if (!isLeft) return
  if (!reply.raw.shouldKeepAlive) closeAfterBody(request, reply)
  answeredEarly.add(socket)
  raw.resume()
  const cancel = clock.after(DRAIN_MS, () => {
    if (!raw.complete) socket.destroy()
  })
  raw.once('close', () => {
    cancel()
    answeredEarly.delete(socket)
  })
}

/** Who asks for it has the connection closed, but only when the body is over: closed behind the answer, it would be lost all the same. */
function closeAfterBody({ raw }: FastifyRequest, { raw: answer }: FastifyReply): void {
  answer.shouldKeepAlive = true
  const close = () => raw.complete && answer.writableFinished && raw.socket.end()
  raw.once('close', close)
  answer.once('finish', close)
}
