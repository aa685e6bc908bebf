import type { Call } from '../../src/callbacks/call.ts'
import { NamespaceGate } from '../../src/callbacks/namespace/namespace-gate.ts'
import { LongPolls } from '../../src/callbacks/run/long-polls.ts'
import { RunService } from '../../src/callbacks/run/run-service.ts'
import { Tokens } from '../../src/callbacks/wire/tokens.ts'
import { RateLimiter } from '../../src/platform/rate-limit/rate-limiter.ts'
import { Inbox } from '../support/receivers/inbox.ts'
import { silentLogger } from '../support/silent-logger.ts'
import type { DeliveryWorld } from './delivery-world.ts'

export interface RunServiceWorld {
  runs: RunService
  gate: NamespaceGate
  polls: LongPolls
  tokens: Tokens
  /** Numbers of runs, as soon as somebody begins to wait for a change of them. */
  began: Inbox<number>
  call(options?: Partial<Call>): Call
}

/** The operations over a process that delivers, or would if it ran. */
export function runServiceOver({ namespace, runtime }: DeliveryWorld): RunServiceWorld {
  const { db, clock, cipher, policies, operator } = namespace
  const began = new Inbox<number>()
  const { watch } = runtime
  const changed = watch.changed.bind(watch)
  watch.changed = (runNumber, ...rest) => {
    const waiting = changed(runNumber, ...rest)
    began.add(runNumber)
    return waiting
  }
  const rateLimiter = new RateLimiter({ buckets: {}, clock, log: silentLogger(), db })
  const gate = new NamespaceGate({ clock, namespaces: policies, rateLimiter })
  const tokens = new Tokens(cipher.deriveKey('callback tokens'))
  const polls = new LongPolls({ db, clock, watch })
  return {
    runs: new RunService({ db, clock, cipher, gate, tokens, polls, ...runtime }),
    gate,
    polls,
    tokens,
    began,
    call: (options = {}) => ({
      principal: operator,
      signal: new AbortController().signal,
      closed: new AbortController().signal,
      deadlineMs: null,
      refuseUnlessStillAllowed: async () => undefined,
      ...options,
    }),
  }
}
