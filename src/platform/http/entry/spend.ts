import type { FastifyReply } from 'fastify'
import type { Spend } from '../../rate-limit/rate-limiter.ts'
import type { OperationRequest } from '../operation-options.ts'
import { applyVerdict, type RateRule, spendsOf } from './rate-rules.ts'

/** `per` counts whom a rule of the operation would count; `subject` is something else, such as an account. */
export type LateSpend = { bucket: string; cost?: number } & ({ per: RateRule['per'] } | { subject: string })

/**
 * For limits that only the handler can count, such as one per entry of a parsed list: writes the headers and throws
 * `rate_limited` when there is no room.
 */
export async function spend(request: OperationRequest, reply: FastifyReply, late: LateSpend): Promise<void> {
  const { platform } = request.server
  const { bucket, cost } = late
  const spends: Spend[] =
    'per' in late
      ? spendsOf([{ bucket, per: late.per }], request.principal, request).map((one) => ({ ...one, cost }))
      : [{ bucket, subject: `name ${late.subject}`, cost }]
  const surface = request.routeOptions.config.operation?.surface ?? 'platform'
  applyVerdict(await platform.rateLimiter.spend(spends), surface, reply, platform.clock.now())
}
