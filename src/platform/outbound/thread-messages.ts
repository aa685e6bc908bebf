import { AddressRefused } from './address-refused.ts'
import { ipFilterOf } from './ip-filter.ts'
import type { AnswerHeaders, Exchanged, OutboundRequest } from './outbound-request.ts'

/** One message carries no more: the other side begins with the first of many while this one still makes the rest. */
export const MOST_TOGETHER = 8

/** What happened since the last message. Bodies lie one behind the other, so that one piece of memory is handed over. */
export interface ToOutboundThread {
  requests: SentRequest[]
  bodies: Uint8Array
  /** Numbers of requests that nobody wants any more. */
  givenUp: number[]
}

export interface FromOutboundThread {
  answers: SentAnswer[]
  bodies: Uint8Array
}

export type SentRequest = Omit<OutboundRequest, 'url' | 'filter' | 'body' | 'signal'> & {
  id: number
  origin: string
  filterKey: string
  bodyBytes: number
}

export interface SentAnswer {
  id: number
  /** Null in both: it was given up. */
  answer: { status: number; statusText: string; headers: AnswerHeaders; bodyProblem: string | undefined } | null
  error: SentError | null
  address: string | null
  bodyBytes: number
}

/** As much of an error as a structured clone would lose. */
interface SentError {
  name: string
  message: string
  code: unknown
  cause: SentError | null
  errors: SentError[]
}

const DEEPEST_CAUSE = 8
const NO_BODY = new Uint8Array()

export function packRequest(id: number, { url, filter, body, signal: _, ...rest }: OutboundRequest): SentRequest {
  return { ...rest, id, origin: url.origin, filterKey: filter.key, bodyBytes: body.byteLength }
}

export function unpackRequest({ origin, filterKey, ...rest }: SentRequest, body: Uint8Array): OutboundRequest {
  return { ...rest, ...wayOf(origin, filterKey), body }
}

// Many requests go to one origin.
const MOST_WAYS = 1_000
const ways = new Map<string, Pick<OutboundRequest, 'url' | 'filter'>>()

function wayOf(origin: string, filterKey: string) {
  const key = `${origin} ${filterKey}`
  const known = ways.get(key)
  if (known !== undefined) return known
  const way = { url: new URL(origin), filter: ipFilterOf(filterKey) }
  if (ways.size >= MOST_WAYS) ways.clear()
  ways.set(key, way)
  return way
}

export function packAnswer(id: number, { answer, error, address }: Exchanged, isPlain: boolean): SentAnswer {
  if (answer === undefined) return { id, answer: null, error: packError(error, 0), address, bodyBytes: 0 }
  const { status, statusText, headers, body, bodyProblem } = answer
  const sent = { status, statusText, headers: isPlain ? {} : headers, bodyProblem }
  return { id, answer: sent, error: null, address, bodyBytes: body.byteLength }
}

/** Undefined when it was given up. */
export function unpackAnswer({ answer, error, address }: SentAnswer, body: Uint8Array): Exchanged | undefined {
  if (error !== null) return { error: unpackError(error), address }
  return answer === null ? undefined : { answer: { ...answer, body }, address }
}

export function joinBodies(bodies: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const { byteLength } of bodies) length += byteLength
  if (length === 0) return NO_BODY
  const joined = new Uint8Array(length)
  let at = 0
  for (const body of bodies) {
    joined.set(body, at)
    at += body.byteLength
  }
  return joined
}

function packError(error: Error, depth: number): SentError {
  const { name, message, cause } = error
  const isDeep = depth >= DEEPEST_CAUSE
  const bundled: unknown[] = error instanceof AggregateError && !isDeep ? error.errors.slice(0, DEEPEST_CAUSE) : []
  return {
    name,
    message,
    code: codeOf(error),
    cause: cause instanceof Error && !isDeep ? packError(cause, depth + 1) : null,
    errors: bundled.filter((one) => one instanceof Error).map((one) => packError(one, depth + 1)),
  }
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}

function unpackError({ name, message, code, cause, errors }: SentError): Error {
  if (name === AddressRefused.name) return new AddressRefused(message)
  const options = cause === null ? {} : { cause: unpackError(cause) }
  const error =
    errors.length > 0 ? new AggregateError(errors.map(unpackError), message, options) : new Error(message, options)
  return Object.assign(error, { name }, code !== undefined && { code })
}
