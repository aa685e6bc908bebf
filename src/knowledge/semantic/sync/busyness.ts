import { performance } from 'node:perf_hooks'

// Of its time the event loop worked since the last look.
const BUSY = 0.5
// Then a quarter of the time is for us.
const REST_PER_TURN = 3
const LONGEST_REST_MS = 1_000

/** Whether this process has something better to do than what may wait. */
export class Busyness {
  #last = performance.eventLoopUtilization()

  /** How long to stay away after so many milliseconds of work. */
  restMs(turnMs: number): number {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#last)
    this.#last = now
    return utilization < BUSY ? 0 : Math.min(turnMs * REST_PER_TURN, LONGEST_REST_MS)
  }
}
