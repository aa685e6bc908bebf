import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { lookUp } from '../../platform/storage/look-up.ts'
import { compareTexts } from '../../platform/text/compare-texts.ts'
import type { ListCounts } from '../page.ts'
import type { OwnedCredentialTable } from './credential.ts'

export interface PlacesQuery {
  table: OwnedCredentialTable
  organizationId: OrganizationId
  /** What the list is sorted by, of the credential `c`; then come age and id. */
  key: RawBuilder<unknown>
  descending: boolean
  /** Only those are listed; undefined for all. */
  isAsked: RawBuilder<boolean> | undefined
  offset: number
  size: number
}

interface Place {
  id: string
  key: string | number
  createdAt: number
}

// Some ten milliseconds.
const LOOKED_AT = 5_000

/**
 * The ids of a page of everybody's credentials, and how many there are; on SQLite. No index has them in order, and to sort a
 * hundred thousand takes a third of a second, in which everybody else would wait: so it is done a part at a time.
 */
export async function ownedPlaces(reader: Reader, query: PlacesQuery): Promise<ListCounts & { ids: string[] }> {
  const { table, organizationId, key, descending, isAsked = sql`1`, offset, size } = query
  const compare = descending ? (a: Place, b: Place) => compareAscending(b, a) : compareAscending
  let first: Place[] = []
  let [total, filtered] = [0, 0]
  for (let after = ''; ; ) {
    const { rows } = await sql<Place & { isAsked: number }>`
      select c.id, c.created_at as "createdAt", ${key} as key, ${isAsked} as "isAsked"
      from ${sql.table(table)} c ${lookUp(reader.engine, { table: 'users', as: 'u', on: sql`u.id = c.user_id` })}
      where c.id > ${after} and u.organization_id = ${organizationId}
      order by c.id limit ${LOOKED_AT}`.execute(reader.query)
    const asked = rows.filter((row) => row.isAsked !== 0).sort(compare)
    total += rows.length
    filtered += asked.length
    first = firstOf(first, asked, compare, offset + size)
    const last = rows.at(-1)
    if (last === undefined || rows.length < LOOKED_AT) {
      return { total, filtered, ids: first.slice(offset).map(({ id }) => id) }
    }
    after = last.id
    await nextTurn()
  }
}

function compareAscending(a: Place, b: Place): number {
  return compareKeys(a.key, b.key) || a.createdAt - b.createdAt || compareTexts(a.id, b.id)
}

function compareKeys(a: string | number, b: string | number): number {
  return typeof a === 'string' ? compareTexts(a, String(b)) : a - Number(b)
}

/** Of two lists in order. */
function firstOf<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number, limit: number): T[] {
  const both: T[] = []
  const length = Math.min(limit, a.length + b.length)
  for (let [i, j] = [0, 0]; both.length < length; ) {
    const isFromA = j === b.length || (i < a.length && compare(a[i] as T, b[j] as T) <= 0)
    both.push((isFromA ? a[i++] : b[j++]) as T)
  }
  return both
}
