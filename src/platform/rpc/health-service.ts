/**
 * grpc.health.v1: one state for the whole server, since every service stands on the same storage. Watching is open to
 * everybody, so the number of watchers is bounded, and a watcher that does not read holds one pending state, no queue. Nobody is kept out by
 * one who watches often enough for all: clients take a server that refuses them for one that is ill.
 */
import type { DescService } from '@bufbuild/protobuf'
import {
  Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as Status,
} from '../../gen/grpc/health/v1/health_pb.js'
import { AppError } from '../errors/app-error.ts'
import type { CallContext } from './call.ts'
import { FairPlaces } from './fair-places.ts'
import { type RpcService, rpcService } from './rpc-service.ts'

export interface HealthSource {
  status(): 'serving' | 'not_serving'
  /** Calls back after a change; the answer ends it. */
  subscribe(onChange: () => void): () => void
}

const MAX_WATCHERS = 1_000

export function healthService(source: HealthSource, served: readonly DescService[]): RpcService {
  const places = new FairPlaces(MAX_WATCHERS)

  function statusOf(service: string): Status | undefined {
    if (service !== '' && !served.some(({ typeName }) => typeName === service)) return undefined
    return source.status() === 'serving' ? Status.SERVING : Status.NOT_SERVING
  }

  function check({ service }: HealthCheckRequest) {
    const status = statusOf(service)
    if (status === undefined) throw new AppError('not_found', 'There is no service of that name on this server.')
    return { status }
  }

  function list() {
    const names = ['', ...served.map(({ typeName }) => typeName)]
    return { statuses: Object.fromEntries(names.map((name) => [name, { status: statusOf(name) as Status }])) }
  }

  async function* watch({ service }: HealthCheckRequest, { signal, closing, clientAddress }: CallContext) {
    const changes = new Changes()
    let givesWay = false
    const place = places.enter(clientAddress, () => {
      givesWay = true
      changes.notify()
    })
    if (place === undefined) throw tooMany()
    const unsubscribe = source.subscribe(changes.notify)
    for (const ending of [signal, closing]) ending.addEventListener('abort', changes.notify)
    try {
      let last: Status | undefined
      while (!signal.aborted && !closing.aborted) {
        const status = statusOf(service) ?? Status.SERVICE_UNKNOWN
        if (status !== last) yield { status }
        last = status
        await changes.next()
        if (givesWay) throw tooMany()
      }
      if (last === Status.SERVING) yield { status: Status.NOT_SERVING }
      throw new AppError('unavailable', 'The server is shutting down.')
    } finally {
      for (const ending of [signal, closing]) ending.removeEventListener('abort', changes.notify)
      unsubscribe()
      place.leave()
    }
  }

  return rpcService(
    Health,
    {
      check: { access: 'public', handler: check },
      list: { access: 'public', handler: list },
      watch: { access: 'public', handler: watch },
    },
    { readMaxBytes: 16 * 1024, isQuiet: true },
  )
}

function tooMany(): AppError {
  return new AppError('rate_limited', 'Too many callers watch the health of this server.')
}

/** Any number of notifications between two waits count as one, and none is lost. */
class Changes {
  #isPending = false
  #wake: (() => void) | undefined

  notify = (): void => {
    this.#isPending = true
    this.#wake?.()
  }

  async next(): Promise<void> {
    if (!this.#isPending) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#wake = undefined
    this.#isPending = false
  }
}
