import type { FastifyReply } from 'fastify'
import { HttpResponse } from '../../platform/http/connection/response.ts'

/**
 * These pages run one script, ours, which talks to this server alone. They are stricter than other pages in what they
 * tell: an address that somebody was sent to is nobody else's business.
 */
const HEADERS = [
  'x-content-type-options: nosniff',
  'x-frame-options: DENY',
  'x-robots-tag: noindex',
  'referrer-policy: no-referrer',
  "content-security-policy: default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; require-trusted-types-for 'script'",
]
const BLOCK = `${HEADERS.join('\r\n')}\r\n`

/** In the place of what pages have otherwise: a second policy beside the first would only forbid more. */
export function usePageHeaders(reply: FastifyReply): void {
  if (reply.raw instanceof HttpResponse) reply.raw.headerBlock = BLOCK
}
