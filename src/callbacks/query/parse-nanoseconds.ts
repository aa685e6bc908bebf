import { isInt64 } from './int64.ts'

const SECOND = 1_000_000_000n
const MINUTE = 60n * SECOND
const HOUR = 60n * MINUTE
const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: 24n * HOUR,
}
const CLOCK = /^(\d{1,19}):([0-5]?\d):([0-5]?\d)$/
const PART = /(\d{1,19})(?:\.(\d{1,18}))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h|d)/y

/** `5m`, `1h30m`, `-1.5s`, `01:30:00`, `0`: nanoseconds within 64 bits. Undefined when the text is no such duration. */
export function parseNanoseconds(text: string): bigint | undefined {
  const nanoseconds = sumOfClock(text) ?? sumOfParts(text)
  return nanoseconds !== undefined && isInt64(nanoseconds) ? nanoseconds : undefined
}

/** Hours, minutes and seconds, as a clock shows them. */
function sumOfClock(text: string): bigint | undefined {
  const [hours, minutes, seconds] = (CLOCK.exec(text) ?? []).slice(1).map(BigInt)
  if (hours === undefined || minutes === undefined || seconds === undefined) return undefined
  return hours * HOUR + minutes * MINUTE + seconds * SECOND
}

function sumOfParts(text: string): bigint | undefined {
  const isNegative = text.startsWith('-')
  const start = isNegative || text.startsWith('+') ? 1 : 0
  if (text.slice(start) === '0') return 0n
  if (start === text.length) return undefined
  let sum = 0n
  for (PART.lastIndex = start; PART.lastIndex < text.length; ) {
    const [, whole, fraction = '', unit = ''] = PART.exec(text) ?? []
    const size = UNITS[unit]
    if (whole === undefined || size === undefined) return undefined
    sum += BigInt(whole) * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length)
  }
  return isNegative ? -sum : sum
}
