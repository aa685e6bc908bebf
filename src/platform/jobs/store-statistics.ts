import { sql } from 'kysely'
import type { Micros } from '../clock/clock.ts'
import type { Reader } from '../storage/database.ts'
import { statement } from '../storage/statement.ts'
import type { JobState } from './store.ts'

export interface JobStatistics {
  kind: string
  /** Each is counted to COUNT_LIMIT at most: a metric must not cost more the worse things are. */
  waiting: number
  running: number
  dead: number
  /** When the waiting job that is due first is, or was, due; null when none waits. */
  firstDueAt: Micros | null
}

const COUNT_LIMIT = 10_000

/** Walks from kind to kind by the partial index of the state, so that a kind with a million jobs costs one look-up. */
function countsByKind(state: JobState) {
  const inState = sql`state = ${sql.lit(state)}`
  const firstDue =
    state === 'waiting' ? sql`(select min(due_at) from jobs where ${inState} and kind = kinds.kind)` : sql`null`
  return statement<object, { kind: string; count: number; first_due_at: Micros | null }>((query) => ({
    compile: () =>
      sql`
        with recursive kinds (kind) as (
          select min(kind) from jobs where ${inState}
          union all
          select (select min(kind) from jobs where ${inState} and kind > kinds.kind) from kinds where kinds.kind is not null
        )
        select kind, ${firstDue} as first_due_at,
          (select count(*) from (
            select 1 from jobs where ${inState} and jobs.kind = kinds.kind limit ${sql.lit(COUNT_LIMIT)}) as counted) as count
        from kinds where kind is not null`.compile(query),
  }))
}

const COUNTS = {
  waiting: countsByKind('waiting'),
  running: countsByKind('running'),
  dead: countsByKind('dead'),
}

export async function jobStatistics(reader: Reader): Promise<JobStatistics[]> {
  const byKind = new Map<string, JobStatistics>()
  for (const state of ['waiting', 'running', 'dead'] as const) {
    for (const { kind, count, first_due_at } of await reader.run(COUNTS[state], {})) {
      const entry = byKind.get(kind) ?? { kind, waiting: 0, running: 0, dead: 0, firstDueAt: null }
      entry[state] = count
      entry.firstDueAt ??= first_due_at
      byKind.set(kind, entry)
    }
  }
  return [...byKind.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1))
}
