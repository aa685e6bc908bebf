const INSTANT = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** RFC 3339 as microseconds since the epoch; what is finer is cut off. Undefined when the text is no such time. */
export function parseInstant(text: string): bigint | undefined {
  const parts = INSTANT.exec(text)
  if (parts === null) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [number, ...number[]]
  if (hour === undefined || minute === undefined || second === undefined) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const [, , , , , , , fraction = '', sign = '+', offsetHour = '0', offsetMinute = '0'] = parts
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined
  const date = new Date(0)
  // Date.UTC would take the years up to 99 for those of the last century.
  date.setUTCFullYear(year, (month ?? 0) - 1, day)
  if (date.getUTCMonth() + 1 !== month || date.getUTCDate() !== day) return undefined
  date.setUTCHours(hour, minute, second)
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  const ms = date.getTime() - (sign === '-' ? -offsetMs : offsetMs)
  return BigInt(ms) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
}
