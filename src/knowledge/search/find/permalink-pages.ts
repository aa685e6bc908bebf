import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../../platform/storage/database.ts'
import { type PermalinkRow, permalinksWith } from './store-search-notes.ts'

const PERMALINKS_AT_ONCE = 1_000
const LAST = '\u{10ffff}'

/** Notes whose permalinks begin so and have the part in them, in the order of their permalinks, some at a time. Others get their turn between two pages. */
export async function* permalinkPages(
  reader: Reader,
  projectId: number,
  begin: string,
  part = '',
): AsyncGenerator<PermalinkRow[]> {
  const to = `${begin}${LAST}`
  for (let from = begin; ; ) {
    const rows = await permalinksWith(reader, { projectId, from, to, part, limit: PERMALINKS_AT_ONCE })
    yield rows
    const last = rows.at(-1)?.permalink
    if (rows.length < PERMALINKS_AT_ONCE || last === undefined) return
    // The least text behind it: no permalink holds such a character.
    from = `${last}\u0001`
    await nextTurn()
  }
}
