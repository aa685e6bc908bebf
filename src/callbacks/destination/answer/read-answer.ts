import type { Micros } from '../../../platform/clock/clock.ts'
import { type Answer, headerOf } from '../../../platform/outbound/outbound-request.ts'
import { readRetryAfter } from '../../../platform/outbound/retry-after.ts'
import { HANDLER_ERROR_TYPE, RETRYABLE_HEADER } from '../literals.ts'
import type { EchoMask } from './echo-mask.ts'
import { decodeStart, shortText } from './short-text.ts'
import { MAX_VERDICT_BYTES, retryableFailure, SUCCESS, type Verdict } from './verdict.ts'

interface FailureBody {
  message: string
  /** Set when the body is a handler error. */
  handlerError?: { type?: string; retryable?: boolean }
}

const TYPE_OF_STATUS: Record<number, string> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  408: 'REQUEST_TIMEOUT',
  409: 'CONFLICT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'NOT_IMPLEMENTED',
  503: 'UNAVAILABLE',
  520: 'UPSTREAM_TIMEOUT',
}
const KNOWN_TYPES = new Set(Object.values(TYPE_OF_STATUS))
const TERMINAL_TYPES = new Set([
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'UNAUTHORIZED',
  'NOT_FOUND',
  'CONFLICT',
  'NOT_IMPLEMENTED',
])
const GONE = 410
const MAX_TYPE_BYTES = 128
const MAX_SNIPPET_BYTES = 1024

/**
 * What the answer to an attempt means. `maxDelayMs` is the most that a receiver may ask us to wait; what it says is kept
 * behind `mask`.
 */
export function readAnswer(answer: Answer, now: Micros, maxDelayMs: number, mask: EchoMask = asItIs): Verdict {
  const { status, bodyProblem, isLate } = answer
  if (status >= 200 && status <= 299) return SUCCESS
  const retryAfterMs = readRetryAfter(headerOf(answer, 'retry-after'), now, maxDelayMs)
  if (bodyProblem !== undefined) {
    const failure = retryableFailure(bodyProblem, isLate ? 'request-timeout' : undefined)
    return { ...failure, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }

  const body = readFailureBody(answer, mask)
  const statusType = TYPE_OF_STATUS[status]
  const type = body?.handlerError?.type ?? statusType
  const isRetryable =
    body?.handlerError?.retryable ??
    (statusType === undefined ? undefined : retryableHeader(answer)) ??
    (type === undefined ? status !== GONE : !TERMINAL_TYPES.has(type))
  return {
    result: isRetryable ? 'retryable' : 'terminal',
    errorType: type ?? '',
    message: messageOf(status, mask(answer.statusText), type, body?.message ?? ''),
    label: type === undefined ? 'unknown-error' : `handler-error:${KNOWN_TYPES.has(type) ? type : 'UNKNOWN'}`,
    retryAfterMs: isRetryable ? retryAfterMs : undefined,
  }
}

/** The beginning of a body for the log of attempts. */
export function snippetOf(body: Uint8Array, mask?: EchoMask): string {
  if (mask === undefined) return shortText(decodeStart(body, MAX_SNIPPET_BYTES), MAX_SNIPPET_BYTES)
  // All of it: a secret that the end of the snippet cuts in two has to be seen as a whole.
  return shortText(mask(decodeStart(body, body.byteLength)), MAX_SNIPPET_BYTES)
}

function asItIs(text: string): string {
  return text
}

function messageOf(status: number, statusText: string, type: string | undefined, message: string): string {
  if (type === undefined) {
    const text = shortText(statusText === '' ? String(status) : `${status} ${statusText}`, MAX_TYPE_BYTES)
    return `unexpected response status: ${JSON.stringify(text)}`
  }
  return shortText(`handler error (${type})${message === '' ? '' : `: ${message}`}`, MAX_VERDICT_BYTES)
}

function retryableHeader(answer: Answer): boolean | undefined {
  const value = headerOf(answer, RETRYABLE_HEADER)?.trim().toLowerCase()
  return value === 'true' ? true : value === 'false' ? false : undefined
}

function readFailureBody(answer: Answer, mask: EchoMask): FailureBody | undefined {
  const [mediaType = ''] = (headerOf(answer, 'content-type') ?? '').split(';', 1)
  if (mediaType.trim().toLowerCase() !== 'application/json') return undefined
  const failure = objectOf(parseJson(answer.body))
  if (failure === undefined) return undefined
  const message = typeof failure.message === 'string' ? mask(failure.message) : ''
  if (objectOf(failure.metadata)?.type !== HANDLER_ERROR_TYPE) return { message }
  const { type, retryableOverride } = objectOf(failure.details) ?? {}
  return {
    message,
    handlerError: {
      type: typeof type === 'string' && type !== '' ? typeOf(type, mask) : undefined,
      retryable: typeof retryableOverride === 'boolean' ? retryableOverride : undefined,
    },
  }
}

function typeOf(type: string, mask: EchoMask): string {
  return KNOWN_TYPES.has(type) ? type : shortText(mask(type), MAX_TYPE_BYTES)
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
