import { newId } from '../../platform/ids/uuid.ts'
import { named } from '../../platform/logging/logger.ts'
import { Attempter } from '../deliver/attempter.ts'
import { DeliveryEvents } from '../deliver/delivery-events.ts'
import { Dispatcher } from '../deliver/dispatcher.ts'
import { InputMemory } from '../deliver/input-memory.ts'
import { Lanes } from '../deliver/lanes.ts'
import type { CallbacksDeps } from '../deps.ts'
import { Courier } from '../destination/send/courier.ts'
import type { NamespacePolicies } from '../namespace/namespace-policies.ts'
import { RunWatch } from './run-watch.ts'
import { StartRuns } from './start-runs.ts'

/** All that lives as long as the server and moves runs on. */
export interface CallbackRuntime extends AsyncDisposable {
  readonly lanes: Lanes
  readonly watch: RunWatch
  readonly courier: Courier
  readonly dispatcher: Dispatcher
  readonly starts: StartRuns
}

export function createRuntime(deps: CallbacksDeps & { namespaces: NamespacePolicies }): CallbackRuntime {
  const { db, clock, cipher, namespaces, metrics, inputMemory: memory = new InputMemory() } = deps
  const log = named(deps.log, 'delivery')
  const lanes = new Lanes({ db, clock, log, namespaces, domains: deps.domains })
  const watch = new RunWatch({ db, clock })
  const courier = new Courier({ clock, outbound: deps.outbound })
  const dispatcher = new Dispatcher({
    db,
    clock,
    log,
    lanes,
    attempter: new Attempter({ db, clock, log, cipher, courier, namespaces, lanes, memory }),
    events: new DeliveryEvents({ log, metrics, watch, namespaces }),
    owner: newId(),
  })
  return {
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
