import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { comparisonsOf } from '../query/comparisons-of.ts'
import type { Condition } from '../query/condition.ts'
import type { ListKey, ListQuery } from './list-query.ts'
import { isOfIds, listedBetween, type Place, whereListed } from './store-list-range.ts'

// Measured on SQLite: to look at a run and an attribute of it takes some microseconds, a comparison a tenth of one, and to
// go through two kilobytes of a Text or a list for one word or value about ten of them.
const EFFORT_AT_ONCE = 20_000
const EFFORT_OF_A_RUN = 4
const EFFORT_OF_A_SEARCH = 50
const FEWEST_AT_ONCE = 3

/** The runs of a list from `from` to `to`, which belongs to it: the latest first. */
interface Part {
  fromSortAt: Micros
  fromCreatedAt: Micros
  toSortAt: Micros
  toCreatedAt: Micros
}

/**
 * Asks for runs of a list behind `after`, from its beginning on: what each look finds. SQLite looks while everything else
 * waits, so there it is asked for a part of the runs at a time, and others have a turn between two of them; PostgreSQL is
 * asked once.
 */
export async function* askInParts<Row>(
  reader: Reader,
  query: ListQuery,
  after: ListKey | null,
  select: (where: RawBuilder<boolean>) => RawBuilder<Row>,
): AsyncGenerator<Row[], void> {
  if (reader.engine === 'postgres' || isOfIds(query.condition)) {
    yield (await select(behind(after)).execute(reader.query)).rows
    return
  }
  // Made once for all parts: for a long condition that takes longer than to ask.
  const inPart = statement<Part, Row>((_query, p) => select(sql`${isIn(p)} and ${notBefore(after)}`))
  const partEnd = partEndOf(query)
  const list = listedBetween(query.condition)
  let from = after === null ? list.from : later(list.from, { sortAt: after.sortAt, createdAt: after.createdAt + 1 })
  for (;;) {
    const [end] = await reader.run(partEnd, between(from, list.to))
    yield await reader.run(inPart, between(from, end ?? list.to))
    if (end === undefined) return
    from = end
    await nextTurn()
    query.signal?.throwIfAborted()
  }
}

/** Where a part ends that begins behind a place; nowhere when it is the last one. */
function partEndOf({ namespaceId, condition }: ListQuery) {
  return statement<Part, Place>(
    (_query, p) => sql`
      select r.sort_at as "sortAt", r.created_at as "createdAt" from callback_runs r
      where r.namespace_id = ${namespaceId} and ${whereListed('sqlite', condition)} and ${isIn(p)}
      order by r.sort_at desc, r.created_at desc
      limit 1 offset ${runsAtOnce(condition)}`,
  )
}

function isIn(p: <K extends keyof Part>(key: K) => Part[K]): RawBuilder<boolean> {
  return sql`(r.sort_at, r.created_at) < (${p('fromSortAt')}, ${p('fromCreatedAt')})
    and (r.sort_at, r.created_at) >= (${p('toSortAt')}, ${p('toCreatedAt')})`
}

function between(from: Place, to: Place): Part {
  return { fromSortAt: from.sortAt, fromCreatedAt: from.createdAt, toSortAt: to.sortAt, toCreatedAt: to.createdAt }
}

/** The latest runs come first. */
function later(a: Place, b: Place): Place {
  if (a.sortAt !== b.sortAt) return a.sortAt < b.sortAt ? a : b
  return a.createdAt < b.createdAt ? a : b
}

/** What follows in a list. */
export function behind(after: ListKey | null): RawBuilder<boolean> {
  if (after === null) return sql`1 = 1`
  const { sortAt, createdAt } = after
  return sql`(r.sort_at, r.created_at) <= (${sortAt}, ${createdAt}) and ${notBefore(after)}`
}

/** Of those that have the same times as the last one. */
function notBefore(after: ListKey | null): RawBuilder<boolean> {
  if (after === null) return sql`1 = 1`
  const { sortAt, createdAt, runId } = after
  return sql`(r.sort_at < ${sortAt} or r.created_at < ${createdAt} or r.run_id > ${runId})`
}

function runsAtOnce(condition: Condition | null): number {
  const effort = EFFORT_OF_A_RUN + (condition === null ? 0 : comparisonsOf(condition, EFFORT_OF_A_SEARCH))
  return Math.max(FEWEST_AT_ONCE, Math.floor(EFFORT_AT_ONCE / effort))
}
