import { newId } from '../../platform/ids/uuid.ts'
import { named } from '../../platform/logging/logger.ts'
import { SharedMemory } from '../../platform/memory/shared-memory.ts'
import { Attempter } from '../deliver/attempter.ts'
import { DeliveryEvents } from '../deliver/delivery-events.ts'
import { Dispatcher } from '../deliver/dispatcher.ts'
import { Lanes } from '../deliver/lanes.ts'
import type { CallbacksDeps } from '../deps.ts'
import { Courier } from '../destination/send/courier.ts'
import type { NamespacePolicies } from '../namespace/namespace-policies.ts'
import { RunWatch } from './run-watch.ts'
import { StartRuns } from './start-runs.ts'

// For inputs that are read when their attempt begins: each lane has a bound of its own, but there may be any number of lanes. What is in
// flight lies here once, and once more in the thread that sends it.
const INPUT_BYTES = 128 * 1024 * 1024

/** All that lives as long as the server and moves runs on. */
export interface CallbackRuntime extends AsyncDisposable {
  /** Names this process in the claims it makes. */
  readonly owner: string
  readonly lanes: Lanes
  readonly watch: RunWatch
  readonly courier: Courier
  readonly dispatcher: Dispatcher
  readonly starts: StartRuns
}

export function createRuntime(deps: CallbacksDeps & { namespaces: NamespacePolicies }): CallbackRuntime {
  const { db, clock, cipher, namespaces, metrics, inputMemory: memory = new SharedMemory(INPUT_BYTES) } = deps
  const log = named(deps.log, 'delivery')
  const lanes = new Lanes({ db, clock, log, namespaces, domains: deps.domains })
  const watch = new RunWatch({ db, clock })
  const courier = new Courier({ clock, outbound: deps.outbound })
  const owner = newId()
  const dispatcher = new Dispatcher({
    db,
    clock,
    log,
    lanes,
    attempter: new Attempter({ db, clock, log, cipher, courier, namespaces, lanes, memory }),
    events: new DeliveryEvents({ log, metrics, watch, namespaces }),
    owner,
  })
  return {
    owner,
    lanes,
    watch,
    courier,
    dispatcher,
    starts: new StartRuns({ db, clock, log, cipher, dispatcher }),
    async [Symbol.asyncDispose]() {
      lanes.close()
      watch.wakeAll()
      await courier.close()
    },
  }
}
