import { isIP } from 'node:net'
import { isWithin, parseIp, parseRange } from '../../outbound/ip-address.ts'
import { plainAddress } from './client-address.ts'

/** Who is behind a connection from `address`, by what its `X-Forwarded-For` says. */
export type ForwardedAddress = (address: string, forwardedFor: string | undefined) => string

/** Whether an address is that of such a proxy, also with the port that some write behind it. */
export function trusting(trustedProxies: readonly string[]): (address: string) => boolean {
  const ranges = trustedProxies.flatMap((proxy) => parseRange(proxy) ?? [])
  return (address) => {
    const ip = parseIp(plainAddress(address))
    return ip !== undefined && ranges.some((range) => isWithin(ip, range))
  }
}

/**
 * For listeners without the framework, which does the same for the main port: each proxy that is trusted is believed whom it
 * got the request from, and nobody else is.
 */
export function forwardedAddress(trustedProxies: readonly string[]): ForwardedAddress {
  if (trustedProxies.length === 0) return plainAddress

  const isTrusted = trusting(trustedProxies)
  return (address, forwardedFor = '') => {
    let client = plainAddress(address)
    const hops = forwardedFor.split(',')
    while (hops.length > 0 && isTrusted(client)) {
      const hop = plainAddress((hops.pop() as string).trim())
      if (isIP(hop) === 0) break
      client = hop
    }
    return client
  }
}
