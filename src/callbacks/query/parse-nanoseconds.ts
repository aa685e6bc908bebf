import { isInt64 } from './int64.ts'

const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
}
const PART = /(\d{1,19})(?:\.(\d{1,18}))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h|d)/y

/** `5m`, `1h30m`, `-1.5s`, `0`: nanoseconds within 64 bits. Undefined when the text is no such duration. */
export function parseNanoseconds(text: string): bigint | undefined {
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
  const nanoseconds = isNegative ? -sum : sum
  return isInt64(nanoseconds) ? nanoseconds : undefined
}
