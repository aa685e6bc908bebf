import type { Micros } from '../clock/clock.ts'
import type { Bucket } from './bucket.ts'

// About 10 MB for a bucket in the worst case. Beyond it the longest known subjects are forgotten: a flood of
// made-up addresses may win its own counters back, but not the memory of the server.
const MAX_SUBJECTS = 100_000

interface Window {
  start: Micros
  used: Map<string, number>
}

/**
 * Counters of this process. All subjects of a bucket share their window, so a new window is a new map and nothing
 * old has to be looked for.
 */
export class MemoryWindows {
  readonly #windows = new Map<string, Window>()
  readonly #maxSubjects: number

  constructor(maxSubjects = MAX_SUBJECTS) {
    this.#maxSubjects = maxSubjects
  }

  used(bucket: Bucket, start: Micros, subject: string): number {
    const window = this.#windows.get(bucket.name)
    return window?.start === start ? (window.used.get(subject) ?? 0) : 0
  }

  set(bucket: Bucket, start: Micros, subject: string, used: number): void {
    let window = this.#windows.get(bucket.name)
    if (window?.start !== start) {
      window = { start, used: new Map() }
      this.#windows.set(bucket.name, window)
    }
    if (window.used.size >= this.#maxSubjects && !window.used.has(subject)) {
      window.used.delete(window.used.keys().next().value as string)
    }
    window.used.set(subject, used)
  }

  get size(): number {
    let size = 0
    for (const window of this.#windows.values()) size += window.used.size
    return size
  }
}
