import { create } from '@bufbuild/protobuf'
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'
import { parseInstant } from '../query/parse-instant.ts'
import { fractionText } from './duration.ts'
import { WireProblem } from './wire-problem.ts'

const LONGEST_TEXT = 40
const NANOS_PER_MICRO = 1_000
const MS_PER_SECOND = 1_000
/** From the year 1 to the end of 9999. */
const FIRST_SECOND = -62_135_596_800n
const LAST_SECOND = 253_402_300_799n

export function readTimestamp(json: unknown): Timestamp {
  const micros = typeof json === 'string' && json.length <= LONGEST_TEXT ? parseInstant(json) : undefined
  if (micros === undefined) {
    throw new WireProblem('must be an RFC 3339 time, such as "2026-01-31T12:00:00Z"')
  }
  const digits = /\.(\d+)/.exec(json as string)?.[1] ?? ''
  const perSecond = BigInt(MICROS_PER_SECOND)
  const fraction = BigInt(digits.slice(0, 6).padEnd(6, '0'))
  const seconds = (micros - fraction) / perSecond
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) {
    throw new WireProblem('must be a time between the years 1 and 9999')
  }
  if (digits.length > 9) throw new WireProblem('must have at most 9 digits after the point')
  return create(TimestampSchema, { seconds, nanos: Number(digits.padEnd(9, '0')) })
}

export function timestampJson({ seconds, nanos }: { seconds: bigint; nanos: number }): string {
  return `${new Date(Number(seconds) * MS_PER_SECOND).toISOString().slice(0, -'.000Z'.length)}${fractionText(nanos)}Z`
}

export function timestampOf(at: Micros): Timestamp {
  const seconds = Math.floor(at / MICROS_PER_SECOND)
  const nanos = (at - seconds * MICROS_PER_SECOND) * NANOS_PER_MICRO
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos })
}
