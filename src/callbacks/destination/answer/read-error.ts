import { AddressRefused } from '../../../platform/outbound/address-refused.ts'
import { retryableFailure, terminalFailure, type Verdict } from './verdict.ts'

const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
const DEEPEST_CAUSE = 8

/** What it means that no answer came: worth another try, unless we ourselves refused to connect. */
export function readError(error: unknown): Verdict {
  const chain = causesOf(error)
  const refusal = chain.find((cause) => cause instanceof AddressRefused)
  if (refusal !== undefined) return terminalFailure(refusal.message)
  const texts = [...chain.map(({ message }) => message), ...chain.map(codeOf)]
  const message = texts.find((text) => text !== '') ?? 'the request failed'
  return chain.some(isTimeout) ? retryableFailure(message, 'request-timeout') : retryableFailure(message)
}

/** The error, what it wraps and what it bundles: trying several addresses of a host fails with a nameless bundle. */
function causesOf(error: unknown): Error[] {
  const found: Error[] = []
  const waiting: unknown[] = [error]
  while (waiting.length > 0 && found.length < DEEPEST_CAUSE) {
    const next = waiting.shift()
    if (!(next instanceof Error)) continue
    found.push(next)
    if (next instanceof AggregateError) waiting.push(...next.errors.slice(0, DEEPEST_CAUSE))
    waiting.push(next.cause)
  }
  return found
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

function isTimeout(error: Error): boolean {
  return error.name === 'TimeoutError' || TIMEOUT_CODES.has(codeOf(error))
}
