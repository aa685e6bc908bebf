import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { parseDuration } from '../../platform/config/duration.ts'
import { closedSignal, goneSignal } from '../../platform/http/answer/gone-signal.ts'
import { HttpResponse } from '../../platform/http/connection/response.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { refuseUnlessStillAllowed } from '../../platform/http/entry/still-allowed.ts'
import type { Call } from '../call.ts'
import { invalid } from '../wire/invalid.ts'

const GRPC_TIMEOUT = /^(\d{1,8})([HMSmun])$/
const UNIT_MS = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 } as const

/** The call behind a request. Only who waits long asks whether the caller is still there. */
export class HttpCall implements Call {
  readonly principal: Principal
  /** What is left of it: looking up the credentials, and a body that came slowly, took their part. */
  readonly deadlineMs: number | null
  readonly #request: FastifyRequest
  readonly #raw: FastifyReply['raw']
  #gone: AbortSignal | undefined
  #closed: AbortSignal | undefined

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.principal = callerOf(request)
    this.deadlineMs = timeLeft(request, reply)
    this.#request = request
    this.#raw = reply.raw
  }

  get client(): ClientInfo {
    return clientOf(this.#request)
  }

  get signal(): AbortSignal {
    this.#gone ??= goneSignal(this.#raw)
    return this.#gone
  }

  get closed(): AbortSignal {
    this.#closed ??= closedSignal(this.#raw)
    return this.#closed
  }

  refuseUnlessStillAllowed(): Promise<void> {
    return refuseUnlessStillAllowed(this.#request)
  }
}

function timeLeft({ headers }: FastifyRequest, { raw }: FastifyReply): number | null {
  const givenMs = readDeadline(headers)
  return givenMs === null || !(raw instanceof HttpResponse) ? givenMs : givenMs - raw.elapsedMs
}

/** The earlier of the two where both are sent. */
export function readDeadline(headers: FastifyRequest['headers']): number | null {
  const { 'grpc-timeout': grpc, 'request-timeout': plain } = headers
  if (grpc === undefined && plain === undefined) return null
  return Math.min(
    grpc === undefined ? Number.POSITIVE_INFINITY : readGrpcTimeout(grpc),
    plain === undefined ? Number.POSITIVE_INFINITY : readRequestTimeout(plain),
  )
}

function readGrpcTimeout(text: string | string[]): number {
  const [, amount, unit] = GRPC_TIMEOUT.exec(String(text)) ?? []
  if (amount === undefined) throw invalid('The header Grpc-Timeout is not a time such as 2S or 500m')
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

function readRequestTimeout(text: string | string[]): number {
  const milliseconds = parseDuration(String(text))
  if (milliseconds === undefined) throw invalid('The header Request-Timeout is not a time such as 2000ms or 2s')
  return milliseconds
}
