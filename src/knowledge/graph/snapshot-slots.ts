import type { Clock } from '../../platform/clock/clock.ts'
import { StreamSlots } from '../../platform/http/answer/stream-slots.ts'
import type { Database } from '../../platform/storage/database.ts'

const KEPT = 2
const LINE = { waiting: 200, waitMs: 30_000 }

/** For what holds a state of the data for long: most connections are kept for everybody else, and two of a few. */
export function snapshotSlots({ mostSnapshots }: Database, clock: Clock, most: number): StreamSlots {
  return new StreamSlots(clock, { open: Math.max(1, Math.min(most, mostSnapshots - KEPT)), ...LINE })
}
