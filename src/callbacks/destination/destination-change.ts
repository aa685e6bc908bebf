import type { UpdateDestinationRequest } from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import type { Change } from '../../platform/audit/audit-change.ts'
import { isRecord } from '../../platform/config/setting.ts'
import { invalid } from '../wire/invalid.ts'
import type { DestinationChange, StoredDestination } from './store-destinations.ts'

// As the settings have it.
const MOST_AT_A_TIME = 100_000
const MOST_PER_SECOND = 1_000_000
/** What a destination may have a value of its own for, or follow the settings in. */
export const INHERITED = ['concurrency', 'rps'] as const

/** What is to be different, checked. */
export function readDestinationChange(request: UpdateDestinationRequest): DestinationChange {
  const { concurrency, rps, paused: isPaused, inherit } = request
  if (concurrency !== undefined && !(concurrency >= 1 && concurrency <= MOST_AT_A_TIME)) {
    throw invalid(`concurrency must be between 1 and ${MOST_AT_A_TIME}`)
  }
  if (rps !== undefined && !(rps >= 0 && rps <= MOST_PER_SECOND)) {
    throw invalid(`rps must be between 0, which is no limit, and ${MOST_PER_SECOND}`)
  }
  const inherited: { concurrency?: null; rps?: null } = {}
  for (const given of inherit) {
    const name = INHERITED.find((known) => known === given)
    if (name === undefined) throw invalid(`inherit must have names among ${INHERITED.join(' and ')}`)
    if (request[name] !== undefined) throw invalid(`inherit must not name ${name}, which is set`)
    inherited[name] = null
  }
  return { concurrency, rps, isPaused, ...inherited }
}

/** In JSON null says that a limit follows the settings again. */
export function inheritNulls(json: unknown): unknown {
  if (!isRecord(json)) return json
  const nulls = INHERITED.filter((name) => Object.hasOwn(json, name) && json[name] === null)
  if (nulls.length === 0) return json
  const listed = json.inherit === undefined || json.inherit === null ? [] : json.inherit
  return { ...json, inherit: Array.isArray(listed) ? [...listed, ...nulls] : listed }
}

/** What differs, for the audit log; nothing when it was so already. */
export function destinationDifference(
  before: StoredDestination,
  change: DestinationChange,
): NonNullable<Change['changes']> {
  const after = { ...before, ...withoutUndefined(change) }
  const changes: NonNullable<Change['changes']> = {}
  for (const name of INHERITED) {
    if (after[name] !== before[name]) changes[name] = { old: before[name], new: after[name] }
  }
  if (after.isPaused !== before.isPaused) changes.paused = { old: before.isPaused, new: after.isPaused }
  return changes
}

function withoutUndefined(change: DestinationChange): DestinationChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
