import { create } from '@bufbuild/protobuf'
import { type Duration as DurationMessage, DurationSchema } from '@bufbuild/protobuf/wkt'
import { MICROS_PER_SECOND } from '../../platform/clock/clock.ts'
import type { Duration } from './messages.ts'
import { WireProblem } from './wire-problem.ts'

/** Ten thousand years: what protobuf allows. */
const MOST_SECONDS = 315_576_000_000n
const MOST_NANOS = 999_999_999
const NANOS_PER_MICRO = 1_000

const FORM = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/

export function readDuration(json: unknown): DurationMessage {
  const parts = typeof json === 'string' ? FORM.exec(json) : null
  if (parts === null) {
    // A number of seconds that no pattern of twelve digits holds is out of range as well.
    throw new WireProblem('must be a duration of at most 10,000 years in seconds, such as "10s" or "0.5s"')
  }
  const [, sign, whole = '0', fraction = ''] = parts
  const seconds = BigInt(whole)
  const nanos = Number(fraction.padEnd(9, '0'))
  const duration = { seconds: sign === '-' ? -seconds : seconds, nanos: sign === '-' && nanos > 0 ? -nanos : nanos }
  const problem = findDurationProblem(duration)
  if (problem !== undefined) throw new WireProblem(problem)
  return create(DurationSchema, duration)
}

/** Never fails: what came in by other ways was checked there. */
export function durationJson({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? '-' : ''
  return `${sign}${seconds < 0n ? -seconds : seconds}${fractionText(Math.abs(nanos))}s`
}

/** 0, 3, 6 or 9 digits with the point before them. */
export function fractionText(nanos: number): string {
  if (nanos === 0) return ''
  const digits = nanos.toString().padStart(9, '0')
  if (digits.endsWith('000000')) return `.${digits.slice(0, 3)}`
  return `.${digits.endsWith('000') ? digits.slice(0, 6) : digits}`
}

/** Completes a sentence that begins with the name of the field. */
export function findDurationProblem({ seconds, nanos }: Duration): string | undefined {
  if (seconds > MOST_SECONDS || seconds < -MOST_SECONDS || Math.abs(nanos) > MOST_NANOS) {
    return 'is outside the range of a duration, which is 10,000 years'
  }
  if ((seconds > 0n && nanos < 0) || (seconds < 0n && nanos > 0)) {
    return 'has seconds and nanos of which only one is negative: both must have the same sign'
  }
  return undefined
}

/** Fractions of a microsecond are kept: what is longer than nothing stays so. Exact up to 285 years. */
export function durationMicros({ seconds, nanos }: Duration): number {
  return Number(seconds) * MICROS_PER_SECOND + nanos / NANOS_PER_MICRO
}

export function durationOf(micros: number): DurationMessage {
  const seconds = Math.trunc(micros / MICROS_PER_SECOND)
  const nanos = (micros - seconds * MICROS_PER_SECOND) * NANOS_PER_MICRO
  return create(DurationSchema, { seconds: BigInt(seconds), nanos })
}
