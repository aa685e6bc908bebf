const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
export const DURATION = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/

/** Milliseconds, or `undefined` when the text is no duration. A bare `0` needs no unit. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0
  const [, amount, unit] = DURATION.exec(text) ?? []
  if (amount === undefined) return undefined
  // In whole numbers: as a binary fraction, 1.1 hours are no whole number of milliseconds.
  const [whole = '', fraction = ''] = amount.split('.')
  const scaled = BigInt(whole + fraction) * BigInt(UNITS[unit as keyof typeof UNITS])
  const scale = 10n ** BigInt(fraction.length)
  const milliseconds = Number(scaled / scale)
  return scaled % scale === 0n && Number.isSafeInteger(milliseconds) ? milliseconds : undefined
}

/** In the largest unit that leaves no rest, so that reading it again gives the same number. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0s'
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (milliseconds % UNITS[unit] === 0) return `${milliseconds / UNITS[unit]}${unit}`
  }
  return `${milliseconds}ms`
}
