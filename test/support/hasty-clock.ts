import { SystemClock } from '../../src/platform/clock/clock.ts'

/** Real time, but nobody waits: what would ring later rings at once, and is written down. */
export class HastyClock extends SystemClock {
  readonly waits: number[] = []

  override after(ms: number, callback: () => void): () => void {
    this.waits.push(ms)
    const soon = setImmediate(callback)
    return () => clearImmediate(soon)
  }
}
