export function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value
}

const LONGEST_INT64 = 20

/** Undefined when the text is no whole number, or one that 64 bits cannot hold. */
export function parseInt64(text: string): bigint | undefined {
  const sign = text.startsWith('-') ? -1n : 1n
  const digits = text.replace(/^[+-]?0*/, '') || '0'
  if (digits.length > LONGEST_INT64 || !/^[+-]?\d+$/.test(text)) return undefined
  const value = sign * BigInt(digits)
  return isInt64(value) ? value : undefined
}
