import { type Clock, MICROS_PER_MS, type Micros } from '../../src/platform/clock/clock.ts'

interface Alarm {
  ms: number
  dueMs: number
  callback: () => void
}

/** Time that moves only when a test says so. Alarms ring in the order in which they are due. */
export class FakeClock implements Clock {
  #startMicros: Micros
  #elapsedMs = 0
  #last = 0
  #alarms = new Set<Alarm>()

  constructor(start: string | Micros = '2030-01-01T00:00:00Z') {
    this.#startMicros = typeof start === 'number' ? start : Date.parse(start) * MICROS_PER_MS
  }

  // Like the real one it never answers the same time twice, so "newest first" has one answer in a test, too.
  now(): Micros {
    const micros = this.#startMicros + Math.round(this.#elapsedMs * MICROS_PER_MS)
    this.#last = micros > this.#last ? micros : this.#last + 1
    return this.#last
  }

  elapsedMs(): number {
    return this.#elapsedMs
  }

  after(ms: number, callback: () => void): () => void {
    const alarm = { ms, dueMs: this.#elapsedMs + Math.max(0, ms), callback }
    this.#alarms.add(alarm)
    // What is due already rings by itself, as it would if time went on.
    if (ms <= 0)
      setImmediate(() => {
        if (this.#alarms.delete(alarm)) callback()
      })
    return () => this.#alarms.delete(alarm)
  }

  /** How many alarms are set: a worker that waits has one. */
  get waiting(): number {
    return this.#alarms.size
  }

  /** Until somebody waits for exactly so long. */
  async untilSet(ms: number): Promise<void> {
    while (![...this.#alarms].some((alarm) => alarm.ms === ms)) await settle()
  }

  /**
   * Moves time on and rings what falls due, also what a rung alarm sets within the same span. Between two alarms
   * it lets promises that are already settled go on, but it cannot wait for real input or output. Where no alarm
   * is set, the time has moved as soon as the call returns; await it all the same.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsedMs + ms
    let next = this.#next(end)
    do {
      for (; next !== undefined; next = this.#next(end)) {
        this.#alarms.delete(next)
        this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs)
        next.callback()
        await settle()
      }
      this.#elapsedMs = Math.max(this.#elapsedMs, end)
      await settle()
      next = this.#next(end)
    } while (next !== undefined)
  }

  #next(end: number): Alarm | undefined {
    let first: Alarm | undefined
    for (const alarm of this.#alarms) if (alarm.dueMs <= end && (!first || alarm.dueMs < first.dueMs)) first = alarm
    return first
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
