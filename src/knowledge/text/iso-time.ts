import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'

const DATE = /^(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d)|-?[Ww](\d\d)-?([1-7])|-?(\d{3}))(?=$|[Tt ])/
const TIME = /^[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?(?: ?([Zz]|[+-]\d\d(?::?\d\d)?))?$/
const DAY_MS = 86_400_000

/** The days that can be stored whole: a time is a number of microseconds, and beyond these it would be rounded. */
export const FIRST_DAY = '1684-07-29'
export const LAST_DAY = '2255-06-04'

/**
 * An ISO 8601 date (of a month, a week or a year) or date-time, basic or extended, UTC unless it says otherwise; null when it
 * is none. One outside of the days that can be stored is no safe integer.
 */
export function readIsoTime(text: string): Micros | null {
  const parts = DATE.exec(text)
  if (parts === null) return null
  const date = readDate(parts)
  const time = readTime(text.slice(parts[0].length))
  if (date === null || time === null) return null
  return (date + time.ms) * MICROS_PER_MS + time.micros
}

/** Midnight in milliseconds; null for a day that no calendar has. */
function readDate(parts: RegExpExecArray): number | null {
  const [, year, month, day, basicMonth, basicDay, week, weekday, dayOfYear] = parts
  if (week !== undefined) return dateOfWeek(Number(year), Number(week), Number(weekday))
  if (dayOfYear !== undefined) return dateOfYear(Number(year), Number(dayOfYear))
  return dateOfMonth(Number(year), Number(month ?? basicMonth), Number(day ?? basicDay))
}

export function dateOfMonth(year: number, month: number, day: number): number | null {
  const date = new Date(utcDay(year, month, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : null
}

function dateOfYear(year: number, day: number): number | null {
  const date = new Date(utcDay(year, 1, day))
  return date.getUTCFullYear() === year ? date.getTime() : null
}

/** A week belongs to the year of its Thursday, and the first has the fourth of January in it. */
function dateOfWeek(year: number, week: number, weekday: number): number | null {
  const fourth = utcDay(year, 1, 4)
  const firstMonday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS
  const monday = firstMonday + (week - 1) * 7 * DAY_MS
  return new Date(monday + 3 * DAY_MS).getUTCFullYear() === year ? monday + (weekday - 1) * DAY_MS : null
}

/** `Date.UTC` takes the first hundred years for those of the last century. */
function utcDay(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

function readTime(text: string): { ms: number; micros: number } | null {
  if (text === '') return { ms: 0, micros: 0 }
  const parts = TIME.exec(text)
  if (parts === null) return null
  const [hour, minute, second] = parts.slice(1, 4).map((part) => Number(part ?? 0)) as [number, number, number]
  const micros = Number((parts[4] ?? '').slice(0, 6).padEnd(6, '0'))
  const isMidnight = hour === 24 && minute === 0 && second === 0 && Number(parts[4] ?? 0) === 0
  if ((hour > 23 && !isMidnight) || minute > 59 || second > 59) return null
  const offset = offsetMinutes(parts[5] ?? 'Z')
  return offset === null ? null : { ms: ((hour * 60 + minute - offset) * 60 + second) * 1000, micros }
}

function offsetMinutes(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 23 || minutes > 59) return null
  return (hours * 60 + minutes) * (zone[0] === '-' ? -1 : 1)
}
