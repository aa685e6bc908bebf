import { MICROS_PER_MS, MICROS_PER_SECOND } from '../../platform/clock/clock.ts'

/** A hundred years of 365 days: longer durations are cut to it, so that every time a run computes is an exact number. */
export const LONGEST_MICROS = 100 * 365 * 86_400 * MICROS_PER_SECOND

/** The section `schedule_to_close` of the settings, in milliseconds. */
export interface ScheduleToCloseSettings {
  default: number | null
  max: number | null
}

/** The time limit of a new run. 0 asks for the server's default; null is no limit. A ceiling also limits who asks for none. */
export function scheduleToClose(givenMicros: number, settings: ScheduleToCloseSettings): number | null {
  const asked = givenMicros > 0 ? givenMicros : toMicros(settings.default)
  const most = toMicros(settings.max)
  const limit = Math.min(asked, most)
  return limit === Number.POSITIVE_INFINITY ? null : cutDuration(limit)
}

/** Whole microseconds of at most a hundred years. What is longer than nothing stays longer than nothing. */
export function cutDuration(micros: number): number {
  return Math.ceil(Math.min(Math.max(0, micros), LONGEST_MICROS))
}

function toMicros(ms: number | null): number {
  return ms === null ? Number.POSITIVE_INFINITY : ms * MICROS_PER_MS
}
