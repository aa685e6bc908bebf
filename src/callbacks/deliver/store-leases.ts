import { sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'
import { STATE_NUMBERS } from '../state/run-state.ts'
import { MOST_WAITING } from './store-due.ts'

const release = statement<{ runNumbers: string; owner: string; dueAt: Micros }>(
  (_query, p, engine) => sql`
    update callback_runs set due_at = ${p('dueAt')}, lease_owner = null
    where run_number in ${numbersIn(engine, p('runNumbers'))} and lease_owner = ${p('owner')}`,
)

/**
 * Gives back what was taken and not attempted: whoever looks first may take it from `dueAt` on. Answers how many were still
 * the owner's, none on SQLite, where nothing is leased. On PostgreSQL `read committed` is enough.
 */
export async function releaseLeases(
  tx: Transaction,
  owner: string,
  runNumbers: readonly number[],
  dueAt: Micros,
): Promise<number> {
  if (tx.engine === 'sqlite' || runNumbers.length === 0) return 0
  return tx.change(release, { runNumbers: JSON.stringify(runNumbers), owner, dueAt })
}

const releaseUntil = statement<{ owner: string; destinationId: number; untils: string; dueAt: Micros }>(
  (_query, p, engine) => sql`
    update callback_runs set due_at = ${p('dueAt')}, lease_owner = null
    where state = ${sql.lit(STATE_NUMBERS.SCHEDULED)} and destination_id = ${p('destinationId')}
      and due_at in ${numbersIn(engine, p('untils'))} and lease_owner = ${p('owner')}`,
)

/** The same for those of a destination that are leased until exactly one of these times. */
export async function releaseLeasesUntil(
  tx: Transaction,
  { untils, ...which }: { owner: string; destinationId: number; untils: readonly Micros[]; dueAt: Micros },
): Promise<void> {
  await tx.send(releaseUntil, { ...which, untils: JSON.stringify(untils) })
}

const extend = statement<{ runNumber: number; owner: string; until: Micros }>(
  (_query, p) => sql`
    update callback_runs set due_at = ${p('until')}
    where run_number = ${p('runNumber')} and lease_owner = ${p('owner')}`,
)

/** What is still the owner's stays so until then. */
export async function extendLease(tx: Transaction, owner: string, runNumber: number, until: Micros): Promise<void> {
  await tx.send(extend, { runNumber, owner, until })
}

const leased = statement<{ ids: string; owner: string; now: Micros; until: Micros }, { id: number; leased: number }>(
  (_query, p, engine) => sql`
    select d.id, (select count(*) from (
      select 1 from callback_runs r
      where r.state = ${sql.lit(STATE_NUMBERS.SCHEDULED)} and r.destination_id = d.id
        and r.due_at > ${p('now')} and r.due_at <= ${p('until')} and r.lease_owner <> ${p('owner')}
      limit ${sql.lit(MOST_WAITING)}
    ) as counted) as leased
    from callback_destinations d where d.id in ${numbersIn(engine, p('ids'))}`,
)

/** How many runs others than the owner have taken at each of these destinations; their leases end by `until` at the latest. */
export async function leasedByOthers(
  reader: Reader,
  destinationIds: readonly number[],
  which: { owner: string; now: Micros; until: Micros },
): Promise<Map<number, number>> {
  const rows = await reader.run(leased, { ids: JSON.stringify(destinationIds), ...which })
  return new Map(rows.filter((row) => row.leased > 0).map((row) => [row.id, row.leased]))
}
