import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { normaliseDomain } from './normalise-domain.ts'

// Between two pages others have a turn.
const PAGE = 1_000

/** Hosts as far as they were read: out of so many rows, up to the one with this number. */
export interface CallbackHosts {
  names: Set<string>
  rows: number
  lastId: number
}

/**
 * Hosts of callback targets: all that were ever accepted, or those that took a delivery. Read from the table of the
 * callbacks feature, which has a row for each scheme, host and port. What is `known` is added to.
 */
export async function readCallbackHosts(
  reader: Reader,
  which: 'all' | 'accepted',
  known: CallbackHosts = { names: new Set(), rows: 0, lastId: 0 },
): Promise<CallbackHosts> {
  const { names } = known
  let { rows: read, lastId } = known
  for (;;) {
    let query = reader.query
      .selectFrom('callback_destinations')
      .select(['id', 'destination'])
      .where('id', '>', lastId)
      .orderBy('id')
      .limit(PAGE)
    if (which === 'accepted') query = query.where('last_success_at', 'is not', null)
    const rows = await query.execute()
    for (const { destination } of rows) names.add(hostOf(destination))
    read += rows.length
    lastId = rows.at(-1)?.id ?? lastId
    if (rows.length < PAGE) return { names, rows: read, lastId }
    await nextTurn()
  }
}

export async function countCallbackTargets(reader: Reader): Promise<number> {
  const { count } = await reader.query
    .selectFrom('callback_destinations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Changes whenever what is read above may have changed, and costs less than reading it all. */
export async function callbackHostsMark(reader: Reader): Promise<string> {
  const { rows } = await sql<{ targets: number; accepted: number; last: number | null }>`
    select count(*) as targets, count(last_success_at) as accepted, max(id) as last
    from callback_destinations`.execute(reader.query)
  const [mark] = rows
  return `${mark?.targets} ${mark?.accepted} ${mark?.last}`
}

/** Of `scheme://host[:port]`. */
function hostOf(destination: string): string {
  const host = URL.parse(destination)?.hostname ?? destination
  return normaliseDomain(host) ?? host
}
