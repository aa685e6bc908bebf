import { AppError, isAppError } from '../../errors/app-error.ts'
import type { ErrorCode } from '../../errors/codes.ts'
import { InvalidRequest } from '../input/problem.ts'
import type { Surface } from '../surface.ts'

interface ForeignError {
  code?: string
  statusCode?: number
  message?: string
}

/** What the framework throws, in our words. */
const KNOWN: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Unsupported content type'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'Request body is too large'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_argument', 'Request body is not as long as its Content-Length says'],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: ['invalid_argument', 'A QUERY needs a Content-Type, such as application/json'],
  FST_ERR_BAD_URL: ['invalid_argument', 'The path is not validly percent-encoded'],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', 'The request address is too long'],
  FST_ERR_NOT_FOUND: ['not_found', 'Not Found'],
  ECONNRESET: ['canceled', 'The caller went away'],
  ERR_STREAM_PREMATURE_CLOSE: ['canceled', 'The caller went away'],
}

const BY_STATUS: Record<number, [ErrorCode, string]> = {
  400: ['invalid_argument', 'The request is malformed'],
  404: ['not_found', 'Not Found'],
  408: ['request_timeout', 'The request did not arrive in time'],
  413: ['too_large', 'Request body is too large'],
  415: ['unsupported_media_type', 'Unsupported content type'],
}

/** Whatever was thrown becomes an error that may be shown; what it really was goes into the cause. */
export function toAppError(error: unknown, surface: Surface): AppError {
  if (error instanceof InvalidRequest) return error.toAppError(surface)
  if (isAppError(error)) return error
  const { code, statusCode } = (error ?? {}) as ForeignError
  const [ours, message] = KNOWN[code ?? ''] ?? BY_STATUS[statusCode ?? 500] ?? ['internal', 'Internal error']
  return new AppError(ours, message, { cause: error })
}
