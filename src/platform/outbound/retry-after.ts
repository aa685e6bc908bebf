import { MICROS_PER_MS, type Micros } from '../clock/clock.ts'
import { readHttpDate } from '../text/http-date.ts'

const MS_PER_SECOND = 1000

/** How long whoever answered asks us to wait, at most `maxMs`; undefined when it does not say or not in a form we know. */
export function readRetryAfter(text: string | undefined, now: Micros, maxMs: number): number | undefined {
  const value = text?.trim() ?? ''
  if (/^\d+$/.test(value)) return Math.min(Number(value) * MS_PER_SECOND, maxMs)
  const nowMs = Math.floor(now / MICROS_PER_MS)
  const at = readHttpDate(value, nowMs)
  return at === undefined ? undefined : Math.min(Math.max(at - nowMs, 0), maxMs)
}
