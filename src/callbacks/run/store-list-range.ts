import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import type { Comparison, Condition } from '../query/condition.ts'
import { evaluateComparison } from '../query/evaluate-condition.ts'
import { EXECUTION_STATUSES, type ExecutionStatusName } from '../query/fields.ts'
import { RUNNING_SORT_AT } from './store-runs.ts'

/** What every run that a condition finds has in common, as far as an index can use it. */
interface Range {
  statuses: readonly ExecutionStatusName[]
  /** Of the time of closing; null is no bound. */
  from: bigint | null
  to: bigint | null
  /** They are runs of ids that the condition names, or named themselves. */
  isOfIds: boolean
}

const CLOSED = EXECUTION_STATUSES.filter((status) => status !== 'Running')
const EVERYTHING: Range = { statuses: EXECUTION_STATUSES, from: null, to: null, isOfIds: false }

/**
 * A condition for the index of lists beside the whole one: it leaves out nothing that is asked for. On SQLite, which is asked for a
 * part at a time, the bounds of the part are what the index is for: of two upper ones it takes the first, and reads all between them.
 */
export function whereListed(engine: Engine, condition: Condition | null): RawBuilder<boolean> {
  const { statuses, from, to } = condition === null ? EVERYTHING : rangeOf(condition, true)
  if (statuses.length === 0) return sql`1 = 0`
  const sortAt = engine === 'sqlite' ? sql`+r.sort_at` : sql`r.sort_at`
  const bound = (value: bigint) => (engine === 'sqlite' ? sql`${value}` : sql`cast(${String(value)} as bigint)`)
  const parts: RawBuilder<boolean>[] = []
  if (!statuses.includes('Running')) {
    parts.push(sql`${sortAt} < ${sql.lit(RUNNING_SORT_AT)}`)
    if (from !== null) parts.push(sql`${sortAt} >= ${bound(from)}`)
    if (to !== null) parts.push(sql`${sortAt} <= ${bound(to)}`)
    // Word for word the condition of the index.
    if (!statuses.includes('Succeeded')) parts.push(sql`r.status > 2`)
  } else if (statuses.length === 1) parts.push(sql`${sortAt} = ${sql.lit(RUNNING_SORT_AT)}`)
  return parts.length === 0 ? sql`1 = 1` : sql`${sql.join(parts, sql` and `)}`
}

/** A place between two runs of a list, or at one that is left out. */
export interface Place {
  sortAt: Micros
  createdAt: Micros
}

const LATEST = Number.MAX_SAFE_INTEGER
const EARLIEST = Number.MIN_SAFE_INTEGER

/** Where the runs that a condition finds lie in a list: behind `from`, and not behind `to`. */
export function listedBetween(condition: Condition | null): { from: Place; to: Place } {
  const { statuses, from, to } = condition === null ? EVERYTHING : rangeOf(condition, true)
  const isRunning = statuses.includes('Running')
  const first = isRunning ? RUNNING_SORT_AT : Math.min(placeOf(to, LATEST), RUNNING_SORT_AT - 1)
  const last = isRunning && statuses.length === 1 ? RUNNING_SORT_AT : isRunning ? EARLIEST : placeOf(from, EARLIEST)
  return { from: { sortAt: first, createdAt: LATEST }, to: { sortAt: last, createdAt: 0 } }
}

function placeOf(time: bigint | null, otherwise: Micros): Micros {
  return time === null ? otherwise : Math.min(Math.max(Number(time), EARLIEST), LATEST)
}

/** Whether the runs are better found by their ids, and then sorted, than looked for in the order of lists. */
export function isOfIds(condition: Condition | null): boolean {
  return condition !== null && rangeOf(condition, true).isOfIds
}

function rangeOf(condition: Condition, wanted: boolean): Range {
  switch (condition.kind) {
    case 'not':
      return rangeOf(condition.operand, !wanted)
    case 'and':
    case 'or': {
      const ranges = condition.operands.map((operand) => rangeOf(operand, wanted))
      return ranges.reduce((condition.kind === 'and') === wanted ? both : either)
    }
    case 'is-null':
      if (condition.field.name !== 'CloseTime' && condition.field.name !== 'ExecutionDuration') return EVERYTHING
      return { ...EVERYTHING, statuses: condition.isNegated === wanted ? CLOSED : ['Running'] }
    default:
      return condition.field.isSystem ? comparisonRange(condition, wanted) : EVERYTHING
  }
}

function comparisonRange(comparison: Comparison, wanted: boolean): Range {
  switch (comparison.field.name) {
    case 'ExecutionStatus': {
      const statuses = EXECUTION_STATUSES.filter((status) => evaluateComparison(comparison, [status]) === wanted)
      return { ...EVERYTHING, statuses }
    }
    // What is NULL is neither so nor not so.
    case 'ExecutionDuration':
      return { ...EVERYTHING, statuses: CLOSED }
    case 'CloseTime':
      return { ...EVERYTHING, statuses: CLOSED, ...(wanted && closeTimes(comparison)) }
    case 'CallbackId':
    case 'RunId':
      return { ...EVERYTHING, isOfIds: wanted && isNaming(comparison) }
    default:
      return EVERYTHING
  }
}

function closeTimes(comparison: Comparison): Pick<Range, 'from' | 'to'> {
  if (comparison.kind === 'between' && !comparison.isNegated) {
    return { from: timeOf(comparison.low), to: timeOf(comparison.high) }
  }
  if (comparison.kind !== 'compare') return { from: null, to: null }
  const { operator, value } = comparison
  return {
    from: operator === '=' || operator.startsWith('>') ? timeOf(value) : null,
    to: operator === '=' || operator.startsWith('<') ? timeOf(value) : null,
  }
}

function isNaming(comparison: Comparison): boolean {
  if (comparison.kind === 'compare') return comparison.operator === '='
  return comparison.kind === 'in' && !comparison.isNegated
}

function timeOf(value: unknown): bigint | null {
  return typeof value === 'bigint' ? value : null
}

function both(a: Range, b: Range): Range {
  return {
    statuses: a.statuses.filter((status) => b.statuses.includes(status)),
    from: a.from === null || (b.from !== null && b.from > a.from) ? b.from : a.from,
    to: a.to === null || (b.to !== null && b.to < a.to) ? b.to : a.to,
    isOfIds: a.isOfIds || b.isOfIds,
  }
}

function either(a: Range, b: Range): Range {
  return {
    statuses: EXECUTION_STATUSES.filter((status) => a.statuses.includes(status) || b.statuses.includes(status)),
    from: a.from === null || b.from === null ? null : a.from < b.from ? a.from : b.from,
    to: a.to === null || b.to === null ? null : a.to > b.to ? a.to : b.to,
    isOfIds: a.isOfIds && b.isOfIds,
  }
}
