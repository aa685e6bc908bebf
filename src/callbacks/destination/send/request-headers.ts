import { MICROS_PER_MS, MICROS_PER_SECOND, type Micros } from '../../../platform/clock/clock.ts'
import { isHeaderName } from '../../../platform/outbound/header-text.ts'
import { VERSION } from '../../../version.ts'
import type { NexusCallback } from '../../wire/messages.ts'
import { CLOSE_TIME_HEADER, START_TIME_HEADER, STATE_HEADER, TOKEN_HEADER } from '../literals.ts'
import type { CompletionBody } from './completion-body.ts'
import { headerText } from './header-text.ts'
import { signatureOf } from './signature.ts'

export interface AttemptFacts {
  runId: string
  /** Counted from 1. */
  attempt: number
  createdAt: Micros
  attemptedAt: Micros
  callback: Pick<NexusCallback, 'header' | 'token'>
  completion: CompletionBody
  /** Newest first; none signs nothing. */
  secrets: readonly Uint8Array[]
}

const PROTECTED_NAMES = new Set([
  STATE_HEADER,
  'host',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect', // asks for a dialogue that an attempt does not hold
])
const USER_AGENT = `Commonplace/${VERSION}`
const PROTECTED_PREFIXES = ['content-', 'proxy-', 'webhook-']

/** Names in lower case, each once; values as a socket takes them. */
export function requestHeaders(facts: AttemptFacts): Map<string, string> {
  const { callback, completion, secrets } = facts
  const timestamp = Math.floor(facts.attemptedAt / MICROS_PER_SECOND)
  const headers = new Map<string, string>()

  headers.set('user-agent', USER_AGENT)
  headers.set(START_TIME_HEADER, secondOf(facts.createdAt).utc)
  headers.set(CLOSE_TIME_HEADER, preciseTime(facts.createdAt))
  for (const given in callback.header) {
    const name = given.toLowerCase()
    if (isHeaderName(name) && !isProtected(name)) headers.set(name, headerText(callback.header[given] as string))
  }
  if (callback.token !== '') headers.set(TOKEN_HEADER, headerText(callback.token))

  headers.set(STATE_HEADER, completion.state)
  for (const [name, value] of completion.headers) headers.set(name, headerText(value))
  headers.set('content-length', String(completion.body.byteLength))
  headers.set('webhook-id', headerText(facts.runId))
  headers.set('webhook-timestamp', String(timestamp))
  headers.set('webhook-attempt', String(facts.attempt))
  if (secrets.length > 0) {
    headers.set('webhook-signature', signatureOf(secrets, { id: facts.runId, timestamp, body: completion.body }))
  }
  return headers
}

function isProtected(name: string): boolean {
  return PROTECTED_NAMES.has(name) || PROTECTED_PREFIXES.some((prefix) => name.startsWith(prefix))
}

/** RFC 3339 with as many digits as the time needs: 0, 3 or 6. */
function preciseTime(at: Micros): string {
  const { iso } = secondOf(at)
  const micros = at % MICROS_PER_SECOND
  if (micros === 0) return `${iso}Z`
  const isWholeMs = micros % MICROS_PER_MS === 0
  return isWholeMs ? `${iso}.${padded(micros / MICROS_PER_MS, 3)}Z` : `${iso}.${padded(micros, 6)}Z`
}

function padded(number: number, digits: number): string {
  return number.toString().padStart(digits, '0')
}

let writtenSecond = { number: Number.NaN, utc: '', iso: '' }

/** A second in words. The last one is kept: many runs were started in it. */
function secondOf(at: Micros): { utc: string; iso: string } {
  const number = Math.floor(at / MICROS_PER_SECOND)
  if (number !== writtenSecond.number) {
    const date = new Date(number * 1_000)
    writtenSecond = { number, utc: date.toUTCString(), iso: date.toISOString().slice(0, 19) }
  }
  return writtenSecond
}
