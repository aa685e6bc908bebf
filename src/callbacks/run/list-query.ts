import type { Micros } from '../../platform/clock/clock.ts'
import type { Id } from '../../platform/ids/uuid.ts'
import type { Condition } from '../query/condition.ts'

/** Which runs a list has. */
export interface ListQuery {
  readonly namespaceId: Id<'Namespace'>
  /** Null: every run. */
  readonly condition: Condition | null
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal
}

/** The place of a run in a list: running ones first, then by the time of closing, then of starting, the latest first. */
export interface ListKey {
  readonly sortAt: Micros
  readonly createdAt: Micros
  readonly runId: string
}
