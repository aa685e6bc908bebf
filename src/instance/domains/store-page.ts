import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../platform/storage/database.ts'
import '../tables.ts'
import type { PageBounds } from './id-page.ts'

/** Newest first. With `minId` the page is the one right above it, in the same order. */
export async function pageOf<Row>(
  reader: Reader,
  table: 'domain_blocks' | 'domain_allows' | 'declared_peers',
  { limit, maxId, sinceId, minId }: PageBounds,
): Promise<Row[]> {
  const isUpwards = minId !== undefined
  const above = minId ?? sinceId
  // The tables have their numbers in common, which is all that is used of them here.
  let query = reader.query.selectFrom(table as 'domain_blocks').selectAll()
  if (maxId !== undefined) query = query.where('id', '<', maxId)
  if (above !== undefined) query = query.where('id', '>', above)
  const rows = await query
    .orderBy('id', isUpwards ? 'asc' : 'desc')
    .limit(limit)
    .execute()
  return (isUpwards ? rows.reverse() : rows) as Row[]
}

const NAMES_AT_A_TIME = 1_000

/** All of a list, by name. It may be very long: others have their turn after each part of it. */
export async function eachByName<Row extends { domain: string }>(
  readPart: (after: string, limit: number) => Promise<readonly Row[]>,
  take: (row: Row) => void,
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await readPart(after, NAMES_AT_A_TIME)
    for (const row of rows) take(row)
    if (rows.length < NAMES_AT_A_TIME) return
    after = rows.at(-1)?.domain as string
    await nextTurn()
  }
}
