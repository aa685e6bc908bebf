import { MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'

export interface MonthCounts {
  notes: number
  observations: number
  relations: number
}

const MONTHS = 12

/** What came in each of the last twelve months, this one included, in UTC; the oldest first. */
export class Months {
  readonly #counts = new Map<string, MonthCounts>()

  constructor(now: Micros) {
    const today = new Date(now / MICROS_PER_MS)
    for (let back = MONTHS - 1; back >= 0; back--) {
      const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back, 1))
      this.#counts.set(monthOf(first), { notes: 0, observations: 0, relations: 0 })
    }
  }

  /** Times outside these months are left out. */
  add(at: Micros, { notes, observations, relations }: MonthCounts): void {
    const month = this.#counts.get(monthOf(new Date(at / MICROS_PER_MS)))
    if (month === undefined) return
    month.notes += notes
    month.observations += observations
    month.relations += relations
  }

  entries(): [string, MonthCounts][] {
    return [...this.#counts]
  }
}

function monthOf(date: Date): string {
  // A note may claim any time for itself, also one that no date can have.
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 7)
}
