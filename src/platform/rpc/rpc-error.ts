/**
 * Whatever a handler throws, as a status that a caller may see. What an AppError says is for the caller; everything
 * else becomes `internal` with a request id, and its text goes to the log only.
 */
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf'
import { Code, ConnectError } from '@connectrpc/connect'
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from '../../gen/google/rpc/error_details_pb.js'
import { AppError } from '../errors/app-error.ts'
import { ERROR_CODES } from '../errors/codes.ts'

/** A protobuf message that travels with an error: `new AppError(code, text, { details: [errorDetail(Schema, {…})] })`. */
export interface ErrorDetail<Desc extends DescMessage = DescMessage> {
  desc: Desc
  value: MessageInitShape<Desc>
}

export function errorDetail<Desc extends DescMessage>(desc: Desc, value: MessageInitShape<Desc>): ErrorDetail<Desc> {
  return { desc, value }
}

/** Domain of google.rpc.ErrorInfo: says whose reasons these are. */
const ERROR_DOMAIN = 'commonplace'

// gRPC carries message and details in trailers, which clients limit to 8 KiB or so in all.
const MAX_MESSAGE_CHARS = 1_000
const MAX_PROBLEMS = 10
const MAX_PROBLEM_CHARS = 200
const MAX_RETRY_SECONDS = 86_400 * 365

export function toConnectError(error: unknown, requestId: string, nowMs: number): ConnectError {
  if (error instanceof ConnectError) return error
  if (error instanceof AppError) return fromAppError(error, requestId, nowMs)
  const hidden = new AppError(
    'internal',
    `The server failed to answer. Its log has the cause under request id ${requestId}.`,
  )
  const mapped = fromAppError(hidden, requestId, nowMs)
  mapped.cause = error
  return mapped
}

function fromAppError(error: AppError, requestId: string, nowMs: number): ConnectError {
  const headers = new Headers(error.headers)
  const retryAfter = retrySeconds(headers.get('retry-after'), nowMs)
  const details: ErrorDetail[] = [
    // First what the feature says itself: generated clients of older APIs look at the first detail only.
    ...error.details.filter(isErrorDetail),
    errorDetail(ErrorInfoSchema, { reason: error.code, domain: ERROR_DOMAIN }),
  ]
  if (isAboutTheRequest(error)) {
    const fieldViolations = error.problems
      .slice(0, MAX_PROBLEMS)
      .map((text) => ({ description: cut(text, MAX_PROBLEM_CHARS) }))
    details.push(errorDetail(BadRequestSchema, { fieldViolations }))
  }
  if (retryAfter !== undefined)
    details.push(errorDetail(RetryInfoSchema, { retryDelay: { seconds: BigInt(retryAfter) } }))
  if (error.code === 'internal') details.push(errorDetail(RequestInfoSchema, { requestId }))
  const code: Code = ERROR_CODES[error.code].rpc
  return new ConnectError(cut(error.message, MAX_MESSAGE_CHARS), code, headers, details, error.cause)
}

function isAboutTheRequest(error: AppError): boolean {
  return ERROR_CODES[error.code].rpc === Code.InvalidArgument
}

function isErrorDetail(detail: unknown): detail is ErrorDetail {
  if (typeof detail !== 'object' || detail === null || !('desc' in detail) || !('value' in detail)) return false
  return (detail.desc as { kind?: unknown } | null)?.kind === 'message' && typeof detail.value === 'object'
}

/** Retry-After is a number of seconds or a date. */
function retrySeconds(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - nowMs) / 1_000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), MAX_RETRY_SECONDS)
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`.toWellFormed()
}
