import { MICROS_PER_SECOND, type Micros, toRfc3339 } from '../../platform/clock/clock.ts'

/** Days are counted from 1970-01-01, UTC; a day has the same length everywhere and always. */
export type Day = number

const SECONDS_PER_DAY = 86_400
const MICROS_PER_DAY = SECONDS_PER_DAY * MICROS_PER_SECOND
// Day 0 was a Thursday, three days after a Monday.
const DAYS_SINCE_MONDAY = 3

export const DAYS_PER_WEEK = 7

export function dayOf(at: Micros): Day {
  return Math.floor(at / MICROS_PER_DAY)
}

/** `YYYY-MM-DD` */
export function dateOf(day: Day): string {
  return toRfc3339(day * MICROS_PER_DAY).slice(0, 10)
}

/** The Monday on or before the day. */
export function mondayOf(day: Day): Day {
  return day - ((((day + DAYS_SINCE_MONDAY) % DAYS_PER_WEEK) + DAYS_PER_WEEK) % DAYS_PER_WEEK)
}

/** UNIX second at which the day begins. */
export function secondOf(day: Day): number {
  return day * SECONDS_PER_DAY
}

/** The Mondays of the running week and of those before it, newest first. */
export function lastMondays(today: Day, weeks: number): Day[] {
  const monday = mondayOf(today)
  return Array.from({ length: weeks }, (_, index) => monday - index * DAYS_PER_WEEK)
}

export function daysOfWeek(monday: Day): Day[] {
  return Array.from({ length: DAYS_PER_WEEK }, (_, index) => monday + index)
}
