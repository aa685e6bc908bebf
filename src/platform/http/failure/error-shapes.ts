/**
 * One error, a body per surface. `text` is what the surface says for a code whatever the thrower wrote; where it is
 * undefined the error's own message stands. See docs/errors.md.
 */
import type { AppError } from '../../errors/app-error.ts'
import { ERROR_CODES } from '../../errors/codes.ts'
import type { Surface } from '../surface.ts'

export interface ErrorAnswer {
  status: number
  headers: Record<string, string>
  body: object
}

type ErrorShape = (error: AppError, requestId: string) => object

const SHAPES: Record<Surface, ErrorShape> = {
  users(error, requestId) {
    if (error.code === 'internal') return { errors: [`Internal error (request ${requestId})`] }
    return { errors: error.httpStatus === 400 ? error.problems : [error.message] }
  },

  instance(error) {
    return { error: INSTANCE_TEXTS[error.code] ?? allProblems(error), ...members(error) }
  },

  knowledge(error, requestId) {
    return { detail: error.code === 'internal' ? internal(requestId) : allProblems(error), ...members(error) }
  },

  callbacks(error, requestId) {
    const message = error.code === 'internal' ? internal(requestId) : allProblems(error)
    return { code: ERROR_CODES[error.code].rpc, message, details: error.details }
  },

  platform(error, requestId) {
    return { error: error.code === 'internal' ? internal(requestId) : allProblems(error) }
  },
}

const INSTANCE_TEXTS: Partial<Record<AppError['code'], string>> = {
  internal: 'Internal Server Error',
  method_not_allowed: 'Method Not Allowed',
  rate_limited: 'Too many requests',
  unavailable: 'There was a temporary problem serving your request, please try again',
}

export function errorAnswer(surface: Surface, error: AppError, requestId: string): ErrorAnswer {
  const headers: Record<string, string> = { 'cache-control': 'private, no-store', ...error.headers }
  if (error.code === 'unauthenticated') headers['www-authenticate'] ??= 'Bearer'
  if (error.code === 'unavailable') headers['retry-after'] ??= '5'
  return { status: error.httpStatus, headers, body: SHAPES[surface](error, requestId) }
}

function internal(requestId: string): string {
  return `Internal error (request ${requestId})`
}

function allProblems(error: AppError): string {
  return error.problems.length === 1 ? error.message : `${error.message}: ${error.problems.join('; ')}`
}

/**
 * The instance and knowledge surfaces allow members beside the text: each object among the details is spread into the
 * body, so `details: [{ db_checksum: null }]` adds that member.
 */
function members(error: AppError): object {
  return Object.assign({}, ...error.details.filter((detail) => typeof detail === 'object' && detail !== null))
}
