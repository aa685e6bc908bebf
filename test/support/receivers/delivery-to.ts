import { readTarget } from '../../../src/callbacks/destination/address/target.ts'
import type { DeliveryRequest } from '../../../src/callbacks/destination/send/delivery.ts'
import { createIpFilter } from '../../../src/platform/outbound/ip-filter.ts'

export interface DeliveryToOptions extends Partial<Omit<DeliveryRequest, 'target' | 'policy' | 'headers' | 'body'>> {
  headers?: Record<string, string>
  body?: string | Uint8Array
  allowedCidrs?: readonly string[]
  deniedPorts?: readonly number[]
}

/** An attempt at this URL under rules that let this machine be called. */
export function deliveryTo(url: string, options: DeliveryToOptions = {}): DeliveryRequest {
  const { headers = {}, body = '', allowedCidrs = ['127.0.0.0/8', '::1'], deniedPorts = [], ...rest } = options
  const { target, problem } = readTarget(url)
  if (target === undefined) throw new Error(problem)
  return {
    target,
    policy: {
      rules: [{ pattern: '*', allow_insecure: true }],
      filter: createIpFilter(allowedCidrs),
      deniedPorts,
    },
    headers: new Map(Object.entries(headers)),
    body: typeof body === 'string' ? Buffer.from(body) : body,
    timeoutMs: 10_000,
    ...rest,
  }
}
