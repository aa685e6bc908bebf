import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import { LEASE_MARGIN_MS } from '../deliver/claims.ts'
import type { Lanes } from '../deliver/lanes.ts'
import { waitingCounts } from '../deliver/store-due.ts'
import { leasedByOthers } from '../deliver/store-leases.ts'
import { LONGEST_REQUEST_MS } from '../settings.ts'
import type { StoredDestination } from './store-destinations.ts'

/** Runs of one destination; counting ends a little beyond ten thousand. */
export interface DestinationLoad {
  /** For their attempt, those in flight left out. */
  waiting: number
  inFlight: number
}

// No claim is made for longer: others may have been made when attempts could take longer than they may now.
const LONGEST_CLAIM_MS = LONGEST_REQUEST_MS + LEASE_MARGIN_MS

export interface CountingLoads {
  db: Database
  clock: Clock
  lanes: Lanes
  /** Names this process in the claims it makes. */
  owner: string
}

/** What is in flight here is known to this process; of others on PostgreSQL only what they have taken, to be sent at once. */
export async function countLoads(
  { db, clock, lanes, owner }: CountingLoads,
  destinations: readonly StoredDestination[],
): Promise<(destinationId: number) => DestinationLoad> {
  const ids = destinations.map(({ id }) => id)
  const scheduled = await waitingCounts(db, ids)
  const now = clock.now()
  const until = now + LONGEST_CLAIM_MS * MICROS_PER_MS
  const others = db.engine === 'postgres' ? await leasedByOthers(db, ids, { owner, now, until }) : null
  return (id) => {
    const inFlight = (lanes.find(id)?.inFlight ?? 0) + (others?.get(id) ?? 0)
    return { waiting: Math.max(0, (scheduled.get(id) ?? 0) - inFlight), inFlight }
  }
}
