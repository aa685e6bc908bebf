import type { Micros } from '../../platform/clock/clock.ts'

export interface Terms {
  id: number
  /** Markdown */
  text: string
  changelog: string
  /** `YYYY-MM-DD`; null in a draft. */
  effectiveDate: string | null
  /** Null in a draft. */
  publishedAt: Micros | null
  updatedAt: Micros
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/

/** Whether the text is a day of the calendar. */
export function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

export interface Dated {
  effectiveDate: string
}

/** The newest version whose day has come; when none has, the soonest one. */
export function currentTerms<T extends Dated>(published: readonly T[], today: string): T | undefined {
  const byDate = inOrder(published)
  return byDate.findLast(({ effectiveDate }) => effectiveDate <= today) ?? byDate[0]
}

/** The day on which the next later version takes effect; null when there is none. */
export function succeededBy(published: readonly Dated[], { effectiveDate }: Dated): string | null {
  return inOrder(published).find((other) => other.effectiveDate > effectiveDate)?.effectiveDate ?? null
}

/** The first day on which a new version may take effect. */
export function earliestEffectiveDate(published: readonly Dated[], today: string): string {
  return inOrder(published).findLast(({ effectiveDate }) => effectiveDate <= today)?.effectiveDate ?? today
}

function inOrder<T extends Dated>(published: readonly T[]): T[] {
  return published.toSorted((a, b) => (a.effectiveDate < b.effectiveDate ? -1 : 1))
}
