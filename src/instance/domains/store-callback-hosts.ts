import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { normaliseDomain } from './normalise-domain.ts'

// Between two pages others have a turn.
const PAGE = 1_000

/**
 * Hosts of callback targets: all that were ever accepted, or those that took a delivery. Read from the table of the
 * callbacks feature, which has a row for each scheme, host and port.
 */
export async function readCallbackHosts(reader: Reader, which: 'all' | 'accepted'): Promise<Set<string>> {
  const hosts = new Set<string>()
  for (let after = 0; ; ) {
    let query = reader.query
      .selectFrom('callback_destinations')
      .select(['id', 'destination'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
    if (which === 'accepted') query = query.where('last_success_at', 'is not', null)
    const rows = await query.execute()
    for (const { destination } of rows) hosts.add(hostOf(destination))
    if (rows.length < PAGE) return hosts
    after = rows.at(-1)?.id as number
    await nextTurn()
  }
}

/** Changes whenever what is read above may have changed, and costs less than reading it. */
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
