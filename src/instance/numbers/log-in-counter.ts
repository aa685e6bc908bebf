import type { Clock } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { InstanceSettings } from '../settings.ts'
import { type RecentLogIns, readRecentLogIns } from './store-log-ins.ts'
import { DAYS_PER_WEEK, type Day, mondayOf } from './weeks.ts'

const DAYS_OF_MONTH = 28
const DAYS_OF_HALFYEAR = 24 * DAYS_PER_WEEK
/** Counting takes at most one part in so many of the time. */
const SHARE = 25
const LONGEST_MS = 60_000

/**
 * Counts who was there lately. Every user is looked at for it, and on SQLite others only have their turn between: where
 * there are so many that it takes long, the counts are kept for a while, a minute at most. They name nobody.
 */
export class LogInCounter {
  readonly #clock: Clock
  #kept: { day: Day; untilMs: number; counts: RecentLogIns } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async count(reader: Reader, today: Day, { cache }: Pick<InstanceSettings, 'cache'>): Promise<RecentLogIns> {
    const kept = this.#kept
    const begunMs = this.#clock.elapsedMs()
    if (kept?.day === today && begunMs < kept.untilMs && cache.counter_seconds > 0) return kept.counts
    const counts = await readRecentLogIns(reader, {
      monday: mondayOf(today),
      month: today - DAYS_OF_MONTH,
      halfyear: today - DAYS_OF_HALFYEAR,
    })
    const tookMs = this.#clock.elapsedMs() - begunMs
    this.#kept = { day: today, untilMs: begunMs + Math.min(SHARE * tookMs, LONGEST_MS), counts }
    return counts
  }
}
