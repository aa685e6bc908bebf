import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../../auth/principal.ts'
import { AppError } from '../../errors/app-error.ts'
import { type BucketSettings, secondsLeft, toBucket } from '../../rate-limit/bucket.ts'
import { type RateHeaderStyle, rateHeaders } from '../../rate-limit/rate-headers.ts'
import type { Spend, Verdict } from '../../rate-limit/rate-limiter.ts'
import { networkOf } from '../connection/client-address.ts'
import type { Surface } from '../surface.ts'

/** A bucket, and whose counter in it a request counts against. */
export interface RateRule {
  bucket: string
  /**
   * `owner`: the user behind the credentials, or the client's network without any; `address`: the client's network;
   * `anonymous`: the same, but only for requests without credentials; `credential`, `user`: only with credentials.
   */
  per: 'owner' | 'address' | 'anonymous' | 'credential' | 'user'
  /** For a bucket that no setting of the process fixes: how large it is at this moment. */
  size?(): BucketSettings
  /** 0 only shows what is left, for an operation whose handler counts by itself (see spend.ts). 1 when absent. */
  cost?: number
}

function headerStyleOf(surface: Surface): RateHeaderStyle {
  return surface === 'instance' ? 'instant' : 'seconds'
}

/** What `subjectOf` needs of a request. */
type Client = Pick<FastifyRequest, 'ip'>

export function spendsOf(rules: readonly RateRule[], principal: Principal | null, request: Client): Spend[] {
  const spends: Spend[] = []
  for (const { bucket: name, per, cost, size } of rules) {
    const bucket = size === undefined ? name : toBucket(name, size())
    const subject = bucket === undefined ? null : subjectOf(per, principal, request)
    if (bucket !== undefined && subject !== null) spends.push({ bucket, subject, cost })
  }
  return spends
}

function subjectOf(per: RateRule['per'], principal: Principal | null, request: Client): string | null {
  switch (per) {
    case 'owner':
      return principal === null ? `ip ${networkOf(request.ip)}` : ownerOf(principal)
    case 'address':
      return `ip ${networkOf(request.ip)}`
    case 'anonymous':
      return principal === null ? `ip ${networkOf(request.ip)}` : null
    case 'credential':
      return principal === null ? null : `key ${principal.credentialId ?? principal.method}`
    case 'user':
      return principal === null ? null : ownerOf(principal)
  }
}

function ownerOf(principal: Principal): string {
  return `user ${principal.userId ?? principal.kind}`
}

/** Writes the headers, and throws when there is no room left. */
export function applyVerdict(verdict: Verdict, surface: Surface, reply: FastifyReply, now: number): void {
  const { tightest, allowed } = verdict
  if (tightest === null) return
  reply.headers(rateHeaders(headerStyleOf(surface), tightest, now))
  if (allowed) return
  const seconds = secondsLeft(tightest, now)
  throw new AppError('rate_limited', `Rate limit exceeded, retry in ${seconds} seconds`, {
    headers: { 'retry-after': String(seconds) },
  })
}
