import type { Clock } from '../../platform/clock/clock.ts'
import { StreamSlots } from '../../platform/http/answer/stream-slots.ts'
import type { Database } from '../../platform/storage/database.ts'

const KEPT = 2
const LINE = { waiting: 200, waitMs: 30_000 }

const MOST_STREAMS = 3
const MOST_COUNTING = 2

/** For what holds a state of the data for long: most connections are kept for everybody else, and two of a few. */
export function streamSlots({ mostSnapshots }: Database, clock: Clock): StreamSlots {
  return slots(clock, Math.min(MOST_STREAMS, mostSnapshots - KEPT))
}

/** Beside the streams, for what ends by itself. */
export function countingSlots({ mostSnapshots }: Database, clock: Clock): StreamSlots {
  return slots(clock, Math.min(MOST_COUNTING, mostSnapshots - KEPT - MOST_STREAMS))
}

function slots(clock: Clock, open: number): StreamSlots {
  return new StreamSlots(clock, { open: Math.max(1, open), ...LINE })
}
