import type { Target } from './address/target.ts'

/** Of a destination: an index of PostgreSQL holds hardly more, and no host has a name of 254 characters. */
export const LONGEST_DESTINATION = 2_000

/** What breaker and limits are kept for: `scheme://host[:port]` in lower case, without a port that goes without saying. */
export function destinationOf({ url }: Target): string {
  return url.origin
}
