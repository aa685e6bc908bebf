import type { Clock } from '../../platform/clock/clock.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { NoteFacts, UserFacts } from '../deps.ts'
import { KnownDomains } from '../domains/known-domains.ts'
import type { ActivityWeek, InstanceNumbers } from '../public/instance-data.ts'
import type { InstanceSettings } from '../settings.ts'
import { LogInCounter } from './log-in-counter.ts'
import type { LogInRecorder } from './log-in-recorder.ts'
import { countLogIns } from './store-log-ins.ts'
import { DAYS_PER_WEEK, type Day, dateOf, dayOf, daysOfWeek, lastMondays, secondOf } from './weeks.ts'

export interface NumbersReaderOptions {
  db: Database
  clock: Clock
  users: UserFacts
  notes: NoteFacts
  logIns: LogInRecorder
}

const ACTIVITY_WEEKS = 12

/** What the product really did, as numbers that name nobody. */
export class NumbersReader {
  readonly #options: NumbersReaderOptions
  /** Log-ins of weeks that are over, by their Monday: they never change. */
  readonly #past = new Map<Day, number>()
  readonly #domains = new KnownDomains()
  readonly #recent: LogInCounter

  constructor(options: NumbersReaderOptions) {
    this.#options = options
    this.#recent = new LogInCounter(options.clock)
  }

  /** What was recorded in this process a moment ago is in the numbers: to be awaited before a snapshot is opened. */
  async settle(): Promise<void> {
    await this.#options.logIns.flush()
  }

  /** `version` counts the changes of administrators: what only they change is read again when it differs. */
  async readNumbers(reader: Reader, settings: InstanceSettings, version: number): Promise<InstanceNumbers> {
    const { clock, users, notes } = this.#options
    const today = dayOf(clock.now())
    const recent = await this.#recent.count(reader, today, settings)
    const userCount = await users.countUsers(reader)
    return {
      userCount,
      statusCount: await notes.countNotes(reader),
      domainCount: await this.#domains.count(reader, settings, version),
      // Users may have gone since the log-ins were counted.
      activeMonth: Math.min(recent.activeMonth, userCount),
      activeHalfyear: Math.min(recent.activeHalfyear, userCount),
      weeks: await this.#readWeeks(reader, today, recent.thisWeek),
    }
  }

  async #readWeeks(reader: Reader, today: Day, loginsSoFar: number): Promise<ActivityWeek[]> {
    const { users, notes } = this.#options
    const mondays = lastMondays(today, ACTIVITY_WEEKS)
    const days = mondays.flatMap(daysOfWeek).map(dateOf)
    const created = await notes.countCreatedNotes(reader, days)
    const registered = await users.countRegistrations(reader, days)
    const weeks: ActivityWeek[] = []
    for (const [index, monday] of mondays.entries()) {
      weeks.push({
        week: secondOf(monday),
        statuses: sumOf(created, monday),
        logins: index === 0 ? loginsSoFar : await this.#pastLogIns(reader, monday, today),
        registrations: sumOf(registered, monday),
      })
    }
    this.#forgetBefore(mondays.at(-1) as Day)
    return weeks
  }

  async #pastLogIns(reader: Reader, monday: Day, today: Day): Promise<number> {
    const known = this.#past.get(monday)
    if (known !== undefined) return known
    const count = await countLogIns(reader, monday, monday + DAYS_PER_WEEK - 1)
    // A day later, rows that were on their way at midnight have arrived, whatever the clock of their process says.
    if (monday + DAYS_PER_WEEK < today) this.#past.set(monday, count)
    return count
  }

  #forgetBefore(monday: Day): void {
    for (const known of this.#past.keys()) if (known < monday) this.#past.delete(known)
  }
}

function sumOf(amounts: ReadonlyMap<string, number>, monday: Day): number {
  return daysOfWeek(monday).reduce((sum, day) => sum + (amounts.get(dateOf(day)) ?? 0), 0)
}
