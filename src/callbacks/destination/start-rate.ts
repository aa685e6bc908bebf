import { MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'

interface Group {
  /** When the last of them began. */
  at: Micros
  count: number
}

// Bounds the memory of one destination whatever its rate is.
const MOST_GROUPS = 1_000

/**
 * Counts starts so that no second holds more than `rps` of them. A window that slides: counting in aligned seconds
 * would let twice as many through around the turn of a second. Starts lie in at most a thousand groups, and a group is
 * forgotten with its last start, so the rate is kept exactly up to 1000 a second and undershot by a thousandth above.
 * Below one a second the window is longer: 0.5 means one in two seconds.
 */
export class StartRate {
  #groups: Group[] = []
  #total = 0

  /** The earliest time for another start, `now` when that is at once. `rps` 0 is no limit. */
  freeAt(rps: number, now: Micros): Micros {
    if (rps <= 0) return now
    const { most, windowMicros } = windowOf(rps)
    let left = this.#total
    for (const group of this.#groups) {
      if (left < most) break
      left -= group.count
      if (left < most) return Math.max(now, group.at + windowMicros)
    }
    return now
  }

  add(rps: number, now: Micros): void {
    if (rps <= 0) return
    const { most, windowMicros } = windowOf(rps)
    this.#forget(now - windowMicros)
    const last = this.#groups.at(-1)
    this.#total++
    const isFull = this.#groups.length >= MOST_GROUPS
    if (last !== undefined && (last.at === now || isFull || last.count < most / MOST_GROUPS)) {
      last.at = Math.max(last.at, now)
      last.count++
    } else this.#groups.push({ at: Math.max(now, last?.at ?? now), count: 1 })
  }

  #forget(until: Micros): void {
    let gone = 0
    for (const group of this.#groups) {
      if (group.at > until) break
      this.#total -= group.count
      gone++
    }
    if (gone > 0) this.#groups.splice(0, gone)
  }
}

function windowOf(rps: number): { most: number; windowMicros: number } {
  const most = Math.ceil(rps)
  return { most, windowMicros: Math.ceil((most / rps) * MICROS_PER_SECOND) }
}
