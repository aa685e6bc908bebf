import type { Micros } from '../../platform/clock/clock.ts'
import { readIsoTime } from '../text/iso-time.ts'

const DAY = 86_400_000_000
const MONTHS = 'january february march april may june july august september october november december'.split(' ')
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')
/** What the first of January 1970 was. */
const THURSDAY = 4
/** So many letters tell every month, and every day of the week, from the others. */
const SHORTEST_NAME = 3
/** From one 29th of February to the next there are eight years at most. */
const MOST_YEARS_BACK = 8

const YEAR_OR_MONTH = /^(\d{4})(?:-(\d\d))?$/
const DAY_AND_MONTH = /^(?<day>\d{1,2})(?:st|nd|rd|th)? (?:of )?(?<month>[a-z]+)\.?(?:,? (?<year>\d{4}))?$/
const MONTH_AND_DAY = /^(?<month>[a-z]+)\.?(?: (?<day>\d{1,2})(?:st|nd|rd|th)?)?(?:,? (?<year>\d{4}))?$/
const WEEKDAY = /^(last )?([a-z]+)\.?$/
const PREPOSITION = /^(?:in|on|since) /

/**
 * When a day, a month or a year began that is named as people do: `2026`, `2026-03`, `March 2026`, `2 March`,
 * `Mar. 2nd, 2026`, `monday`, `since June`. Without a year, and for a day of the week, it is the last one that has begun.
 * Not so `03/02/2026`, which is another day in every other country. The text has small letters and single blanks.
 */
export function namedDay(written: string, now: Micros): Micros | undefined {
  const text = written.replace(PREPOSITION, '')
  const weekday = WEEKDAY.exec(text)
  const dayOfWeek = placeOf(WEEKDAYS, weekday?.[2])
  if (dayOfWeek !== undefined) return lastWeekday(dayOfWeek, now, weekday?.[1] !== undefined)
  const numbers = YEAR_OR_MONTH.exec(text)
  if (numbers !== null) return dayOf(Number(numbers[1]), Number(numbers[2] ?? 1), 1)
  const { day = 1, month: name, year } = (DAY_AND_MONTH.exec(text) ?? MONTH_AND_DAY.exec(text))?.groups ?? {}
  const month = placeOf(MONTHS, name)
  if (month === undefined) return undefined
  if (year !== undefined) return dayOf(Number(year), month + 1, Number(day))
  return lastDayOfYear(month + 1, Number(day), now)
}

/** A name may be shortened, as `sept`. */
function placeOf(names: readonly string[], word = ''): number | undefined {
  if (word.length < SHORTEST_NAME) return undefined
  const place = names.findIndex((name) => name.startsWith(word))
  return place === -1 ? undefined : place
}

function lastWeekday(dayOfWeek: number, now: Micros, isBeforeToday: boolean): Micros {
  const today = Math.floor(now / DAY)
  const daysAgo = (today + THURSDAY - dayOfWeek) % 7
  return (today - (isBeforeToday && daysAgo === 0 ? 7 : daysAgo)) * DAY
}

function lastDayOfYear(month: number, day: number, now: Micros): Micros | undefined {
  const thisYear = new Date(now / 1_000).getUTCFullYear()
  for (let year = thisYear; year >= thisYear - MOST_YEARS_BACK; year--) {
    const began = dayOf(year, month, day)
    if (began !== undefined && began <= now) return began
  }
  return undefined
}

/** Undefined for a day that no calendar has. */
function dayOf(year: number, month: number, day: number): Micros | undefined {
  const digits = (number: number, length: number) => String(number).padStart(length, '0')
  return readIsoTime(`${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`) ?? undefined
}
