import type { Target } from './address/target.ts'

/** What breaker and limits are kept for: `scheme://host[:port]` in lower case, without a port that goes without saying. */
export function destinationOf({ url }: Target): string {
  return url.origin
}
