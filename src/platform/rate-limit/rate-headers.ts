import { MICROS_PER_MS, type Micros } from '../clock/clock.ts'
import { type Allowance, secondsLeft } from './bucket.ts'

/** The contracts know two styles: seconds until the reset with the bucket's name, and the time of the reset. */
export type RateHeaderStyle = 'seconds' | 'instant'

export function rateHeaders(style: RateHeaderStyle, allowance: Allowance, now: Micros): Record<string, string> {
  const { bucket, remaining } = allowance
  const headers: Record<string, string> = {
    'x-ratelimit-limit': String(bucket.limit),
    'x-ratelimit-remaining': String(remaining),
  }
  if (style === 'instant') {
    headers['x-ratelimit-reset'] = sixFractions(allowance.resetAt)
  } else {
    headers['x-ratelimit-period'] = String(Math.ceil(bucket.periodMicros / 1_000_000))
    headers['x-ratelimit-reset'] = String(secondsLeft(allowance, now))
    headers['x-ratelimit-name'] = bucket.name
  }
  return headers
}

let writtenAt = Number.NaN
let written = ''

/** The last one is kept: all requests of a window have it. */
function sixFractions(at: Micros): string {
  if (at === writtenAt) return written
  writtenAt = at
  const millis = Math.floor(at / MICROS_PER_MS)
  const micros = String(at - millis * MICROS_PER_MS).padStart(3, '0')
  written = `${new Date(millis).toISOString().slice(0, -1)}${micros}Z`
  return written
}
