import type { FastifyInstance } from 'fastify'
import type { RpcService } from '../platform/rpc/rpc-service.ts'
import { additionalMethods } from './additional-methods.ts'
import type { CallbacksDeps } from './deps.ts'
import { DestinationService } from './destination/destination-service.ts'
import { destinationRoutes } from './destination/routes-destinations.ts'
import { SendTests } from './destination/send/send-tests.ts'
import { messageScope } from './http/message-operation.ts'
import { NamespaceGate } from './namespace/namespace-gate.ts'
import { NamespacePolicies } from './namespace/namespace-policies.ts'
import { NamespaceService } from './namespace/namespace-service.ts'
import { registerNamespacePurge } from './namespace/purge-namespace.ts'
import { namespaceRoutes } from './namespace/routes-namespaces.ts'
import { registerBulkReplay } from './replay/bulk-replay.ts'
import { ReplayService } from './replay/replay-service.ts'
import { callbackRpcServices } from './rpc-callbacks.ts'
import { AttemptsService } from './run/attempts-service.ts'
import { registerGauges } from './run/gauges.ts'
import { LongPolls } from './run/long-polls.ts'
import { scheduleRunRetention } from './run/retention.ts'
import { attemptAndReplayRoutes } from './run/routes-attempts-and-replays.ts'
import { callbackRoutes } from './run/routes-callbacks.ts'
import { RunService } from './run/run-service.ts'
import { type CallbackRuntime, createRuntime } from './run/runtime.ts'
import { Tokens } from './wire/tokens.ts'

export interface Callbacks extends CallbackRuntime {
  readonly rpcServices: readonly RpcService[]
}

/** The table of contents of the callbacks surface. Answers what moves runs on, which outlives the listeners. */
export function registerCallbacks(server: FastifyInstance, deps: CallbacksDeps): Callbacks {
  const { db, clock, cipher, jobs, metrics } = deps
  const policies = new NamespacePolicies(deps)
  const runtime = createRuntime({ ...deps, namespaces: policies })
  const gate = new NamespaceGate({ clock, namespaces: policies, rateLimiter: server.platform.rateLimiter })
  const tokens = new Tokens(cipher.deriveKey('callback tokens'))
  const polls = new LongPolls({ db, clock, watch: runtime.watch })
  const runs = new RunService({ db, clock, cipher, gate, tokens, polls, ...runtime })
  const additional = {
    attempts: new AttemptsService({ db, clock, gate, tokens, ...runtime }),
    replays: new ReplayService({ db, clock, cipher, jobs, gate, ...runtime }),
    destinations: new DestinationService({ db, clock, gate, ...runtime }),
    tests: new SendTests({ clock, gate, ...runtime }),
    namespaces: new NamespaceService({ ...deps, policies }),
  }
  // Whoever waits is answered at once when the server stops.
  server.addHook('preClose', async () => polls.close())
  server.addHook('onClose', async () => policies.close())
  registerNamespacePurge({ db, clock, jobs, ...runtime })
  registerBulkReplay(jobs, { db, clock, cipher, namespaces: policies, ...runtime })
  scheduleRunRetention({ db, clock, jobs, policies })
  registerGauges({ db, clock, metrics, ...runtime })
  messageScope(server, (scope) => {
    namespaceRoutes(scope, additional.namespaces)
    callbackRoutes(scope, runs)
    attemptAndReplayRoutes(scope, additional)
    destinationRoutes(scope, additional)
  })
  return { ...runtime, rpcServices: callbackRpcServices(runs, additionalMethods(additional)) }
}
