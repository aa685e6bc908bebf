/**
 * Everything that is decided before a body is read, in the order of the contracts: credentials, rate limit,
 * permission. The instance surface counts a request before it judges its credentials.
 */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Authentication, Principal } from '../../auth/principal.ts'
import type { AppError } from '../../errors/app-error.ts'
import type { Verdict } from '../../rate-limit/rate-limiter.ts'
import { withinDeadline } from '../answer/within-deadline.ts'
import { HttpResponse, type RouteLabel } from '../connection/response.ts'
import type { OperationOptions } from '../operation-options.ts'
import type { HttpPlatform } from '../platform.ts'
import type { Surface } from '../surface.ts'
import { type Access, isOpen } from './access.ts'
import { HttpCredentialSource } from './credential-source.ts'
import { applyVerdict, type RateRule, spendsOf } from './rate-rules.ts'
import { credentialError, refuseWithoutRight } from './refusals.ts'

export interface GuardOptions {
  access: Access
  surface: Surface
  rateRules: readonly RateRule[]
  label: RouteLabel
  deadlineMs?: OperationOptions['deadlineMs']
  /** Replaces the shared headers, for pages. */
  headerBlock?: string
  cacheControl: string | null
}

export function guard(platform: HttpPlatform, options: GuardOptions): onRequestHookHandler {
  const { access, label, headerBlock, cacheControl } = options
  const rateRules = options.rateRules.filter(
    ({ bucket, size }) => size !== undefined || platform.rateLimiter.isOn(bucket),
  )
  const judged = { ...options, rateRules }

  return function onRequest(request, reply, done) {
    const response = reply.raw
    if (response instanceof HttpResponse) {
      response.label = label
      if (headerBlock !== undefined) response.headerBlock = headerBlock
    }
    if (cacheControl !== null) reply.header('cache-control', cacheControl)
    const isAnonymous = access === 'public' || (access === 'bearer' && request.headers.authorization === undefined)
    if (!isAnonymous) authenticate(platform, judged, request, reply, done)
    else if (rateRules.length === 0) done()
    else count(platform, judged, request, reply, done)
  }
}

/** Without credentials to judge there is nothing to wait for, unless the counters are shared. */
function count(
  platform: HttpPlatform,
  { rateRules, surface }: GuardOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  const apply = (verdict: Verdict) => applyVerdict(verdict, surface, reply, platform.clock.now())
  const spent = platform.rateLimiter.spend(spendsOf(rateRules, request.principal, request))
  if (spent instanceof Promise) {
    spent.then(apply).then(() => done(), done)
    return
  }
  let refusal: Error | undefined
  try {
    apply(spent)
  } catch (error) {
    refusal = error as Error
  }
  done(refusal)
}

/** Credentials that were seen a moment ago are judged at once: a promise costs a request more than the judging does. */
function authenticate(
  platform: HttpPlatform,
  options: GuardOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  const source = new HttpCredentialSource(request, platform.origin())
  const known = platform.authenticator.recall?.(source)
  if (known === undefined) {
    const lookUp = async () =>
      admit(platform, options, await platform.authenticator.authenticate(source), request, reply)
    const ms = deadlineOf(options, request)
    const admitted = ms === null ? lookUp() : withinDeadline(platform.clock, ms, lookUp)
    admitted.then(() => done(), done)
    return
  }
  let refusal: Error | undefined
  try {
    const waiting = admit(platform, options, known, request, reply)
    if (waiting !== undefined) return void waiting.then(() => done(), done)
  } catch (error) {
    refusal = error as Error
  }
  done(refusal)
}

function deadlineOf({ deadlineMs }: GuardOptions, { headers }: FastifyRequest): number | null {
  try {
    return deadlineMs?.(headers) ?? null
  } catch {
    // Said by the handler, to callers whose credentials are good.
    return null
  }
}

/** Throws what refuses the request. A promise only while shared counters are asked. */
function admit(
  platform: HttpPlatform,
  options: GuardOptions,
  authentication: Authentication,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> | undefined {
  const { access, surface, rateRules } = options
  let refusal: AppError | null = null
  if (authentication.kind === 'ok') {
    if (access !== 'bearer' || isOfUser(authentication.principal)) identify(request, reply, authentication.principal)
  } else if (!isOpen(access)) refusal = credentialError(platform, surface, authentication)
  if (refusal !== null && surface !== 'instance') throw refusal
  const decide = (verdict: Verdict | null) => {
    if (verdict !== null) applyVerdict(verdict, surface, reply, platform.clock.now())
    if (refusal !== null) throw refusal
    if (request.principal !== null) refuseWithoutRight(platform, options, request.principal, request)
  }
  if (rateRules.length === 0) return void decide(null)
  const spent = platform.rateLimiter.spend(spendsOf(rateRules, request.principal, request))
  return spent instanceof Promise ? spent.then(decide) : void decide(spent)
}

/** A key pair is no token, and whoever still has to enrol a second factor has proved too little. */
function isOfUser({ method, mustEnrol }: Principal): boolean {
  return (method === 'token' || method === 'session') && mustEnrol !== true
}

function identify(request: FastifyRequest, reply: FastifyReply, principal: Principal): void {
  request.principal = principal
  if (reply.raw instanceof HttpResponse) reply.raw.principalId = principal.userId ?? principal.kind
}
