import { setImmediate } from 'node:timers/promises'
import { create } from '@bufbuild/protobuf'
import type {
  Destination,
  ListDestinationsRequest,
  ListDestinationsResponse,
  ResetDestinationRequest,
  UpdateDestinationRequest,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { DestinationSchema, ListDestinationsResponseSchema } from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { auditChange, type Change } from '../../platform/audit/audit-change.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { Call } from '../call.ts'
import type { Lanes } from '../deliver/lanes.ts'
import type { NamespaceGate } from '../namespace/namespace-gate.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import { requireText } from '../wire/check-ids.ts'
import { fittingItems, textBytes } from '../wire/fitting-items.ts'
import { timestampOf } from '../wire/timestamp.ts'
import { pageSizeOf } from '../wire/validate-requests.ts'
import type { BreakerSnapshot } from './breaker.ts'
import { destinationDifference, readDestinationChange } from './destination-change.ts'
import { countLoads, type DestinationLoad } from './destination-load.ts'
import { readDestinationName } from './destination-name.ts'
import { destinationToken, readDestinationToken } from './destination-token.ts'
import {
  changeDestination,
  type DestinationChange,
  destinationId,
  findDestinationByName,
  holdDestination,
  listDestinations,
  type StoredDestination,
} from './store-destinations.ts'

export interface DestinationServiceOptions {
  db: Database
  clock: Clock
  gate: NamespaceGate
  lanes: Lanes
  /** Names this process in the claims it makes. */
  owner: string
}

// Counting what waits takes its time, during which nobody else has a turn on SQLite.
const COUNTED_AT_ONCE = 20
// In JSON: names of members and what is always short.
const BYTES_BESIDE = 500
const WELL: BreakerSnapshot = { state: 'closed', openUntil: null, consecutiveFailures: 0 }

/** Where the callbacks of a namespace go, how that is going, and what an operator can do about it. */
export class DestinationService {
  readonly #options: DestinationServiceOptions

  constructor(options: DestinationServiceOptions) {
    this.#options = options
  }

  /** By name. Breakers are those of this process. */
  async list(request: ListDestinationsRequest, _call: Call): Promise<ListDestinationsResponse> {
    const { db, gate } = this.#options
    const { rules, namespace: entered } = await gate.enter(request.namespace)
    requireText('namespace', request.namespace)
    const after = readDestinationToken(request.nextPageToken)
    const pageSize = pageSizeOf(request.pageSize, rules.policy.max_page_size)
    const namespace = entered()
    // One more than asked for tells whether there is another page.
    const found = await listDestinations(db, namespace.id, { after, limit: pageSize + 1 })
    const page = fittingItems(found.slice(0, pageSize), destinationBytes)
    const last = found.length > page.length ? page.at(-1) : undefined
    return create(ListDestinationsResponseSchema, {
      destinations: await this.#showAll(namespace, page),
      nextPageToken: last && destinationToken(last.destination),
    })
  }

  async update(request: UpdateDestinationRequest, call: Call): Promise<Destination> {
    const { db, lanes } = this.#options
    const { name, namespace: entered } = await this.#enter(request)
    const change = readDestinationChange(request)
    const namespace = entered()
    const after = await db.write(
      async (tx) => {
        const before = await destinationToChange(tx, namespace, name, change)
        const changes = destinationDifference(before, change)
        if (Object.keys(changes).length === 0) return before
        await changeDestination(tx, before.id, change)
        lanes.announce(tx, before.id, 'changed')
        await audit(tx, call, namespace, before, { action: 'destination.updated', changes })
        return requireDestination(tx, namespace, name)
      },
      { isolation: 'read committed' },
    )
    await lanes.refresh(after.id, 'changed')
    return this.#show(namespace, after)
  }

  async reset(request: ResetDestinationRequest, call: Call): Promise<Destination> {
    const { db, lanes } = this.#options
    const { name, namespace: entered } = await this.#enter(request)
    const namespace = entered()
    const destination = await db.write(async (tx) => {
      const found = await requireDestination(tx, namespace, name)
      lanes.announce(tx, found.id, 'reset')
      await audit(tx, call, namespace, found, { action: 'destination.reset' })
      return found
    })
    await lanes.refresh(destination.id, 'reset')
    return this.#show(namespace, destination)
  }

  async #enter(request: { namespace: string; destination: string }) {
    const { namespace } = await this.#options.gate.enter(request.namespace)
    requireText('namespace', request.namespace)
    requireText('destination', request.destination)
    return { name: readDestinationName(request.destination), namespace }
  }

  async #show(namespace: ActiveNamespace, destination: StoredDestination): Promise<Destination> {
    const [shown] = await this.#showAll(namespace, [destination])
    return shown as Destination
  }

  async #showAll(namespace: ActiveNamespace, destinations: readonly StoredDestination[]): Promise<Destination[]> {
    const { lanes } = this.#options
    const shown: Destination[] = []
    for (let from = 0; from < destinations.length; from += COUNTED_AT_ONCE) {
      if (from > 0) await setImmediate()
      const some = destinations.slice(from, from + COUNTED_AT_ONCE)
      const loads = await countLoads(this.#options, some)
      for (const one of some) {
        const breaker = lanes.find(one.id)?.breaker.snapshot() ?? WELL
        shown.push(destinationMessage(one, namespace, breaker, loads(one.id)))
      }
    }
    return shown
  }
}

function destinationMessage(
  stored: StoredDestination,
  { policy }: ActiveNamespace,
  breaker: BreakerSnapshot,
  { waiting, inFlight }: DestinationLoad,
): Destination {
  const time = (at: number | null) => (at === null ? undefined : timestampOf(at))
  return create(DestinationSchema, {
    destination: stored.destination,
    breakerState: breaker.state,
    openUntil: time(breaker.openUntil),
    consecutiveFailures: breaker.consecutiveFailures,
    waiting,
    inFlight,
    lastSuccessTime: time(stored.lastSuccessAt),
    lastFailureTime: time(stored.lastFailureAt),
    lastFailureMessage: stored.lastFailureMessage ?? '',
    concurrency: stored.concurrency ?? policy.destination.concurrency,
    rps: stored.rps ?? policy.destination.rps,
    paused: stored.isPaused,
  })
}

function destinationBytes({ destination, lastFailureMessage }: StoredDestination): number {
  return BYTES_BESIDE + textBytes(destination) + textBytes(lastFailureMessage ?? '')
}

/** What is asked for may hold before the first callback goes there. */
async function destinationToChange(
  tx: Transaction,
  namespace: ActiveNamespace,
  name: string,
  change: DestinationChange,
): Promise<StoredDestination> {
  const isAsked = Object.values(change).some((value) => value !== undefined)
  if (isAsked) await destinationId(tx, namespace.id, name)
  return requireDestination(tx, namespace, name, holdDestination)
}

async function requireDestination(
  tx: Transaction,
  namespace: ActiveNamespace,
  name: string,
  find: typeof holdDestination = findDestinationByName,
): Promise<StoredDestination> {
  const found = await find(tx, namespace.id, name)
  if (found !== undefined) return found
  throw new AppError('not_found', `destination ${JSON.stringify(name)} was not found: no callback was started for it`)
}

function audit(
  tx: Transaction,
  { principal, client }: Call,
  namespace: ActiveNamespace,
  { destination }: StoredDestination,
  change: Omit<Change, 'target'>,
): Promise<void> {
  const target = { type: 'destinations', id: `${namespace.name} ${destination}` }
  return auditChange(tx, principal, { ...change, target }, client)
}
