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
