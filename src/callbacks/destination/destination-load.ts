import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import { LEASE_MARGIN_MS } from '../deliver/claims.ts'
import type { Lanes } from '../deliver/lanes.ts'
import { waitingCounts } from '../deliver/store-due.ts'
import { leasedCounts } from '../deliver/store-leases.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import type { StoredDestination } from './store-destinations.ts'

/** Runs of one destination; counting ends a little beyond ten thousand. */
export interface DestinationLoad {
  /** For their attempt, those in flight left out. */
  waiting: number
  inFlight: number
}

/** What is in flight is known to this process on SQLite; on PostgreSQL to the leases of all. */
export async function countLoads(
  { db, clock, lanes }: { db: Database; clock: Clock; lanes: Lanes },
  { policy }: ActiveNamespace,
  destinations: readonly StoredDestination[],
): Promise<(destinationId: number) => DestinationLoad> {
  const ids = destinations.map(({ id }) => id)
  const scheduled = await waitingCounts(db, ids)
  const now = clock.now()
  const until = now + (policy.request_timeout + LEASE_MARGIN_MS) * MICROS_PER_MS
  const leased = db.engine === 'postgres' ? await leasedCounts(db, ids, { now, until }) : null
  return (id) => {
    const inFlight = leased === null ? (lanes.find(id)?.inFlight ?? 0) : (leased.get(id) ?? 0)
    return { waiting: Math.max(0, (scheduled.get(id) ?? 0) - inFlight), inFlight }
  }
}
