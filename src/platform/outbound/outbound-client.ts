import type { SecureContext } from 'node:tls'
import type { Clock } from '../clock/clock.ts'
import { createGuardedConnect, createTlsContext } from './connect-guarded.ts'
import { Exchange, type ExchangeContext, type Settle } from './exchange.ts'
import type { IpFilter } from './ip-filter.ts'
import { Origin } from './origin.ts'
import type { Exchanged, Outbound, OutboundRequest, ReadyRequest } from './outbound-request.ts'
import { requestBytes } from './request-bytes.ts'
import { type ResolveHost, shareQuestions } from './resolve-host.ts'
import { SystemResolver } from './system-resolver.ts'

export interface OutboundOptions {
  clock: Clock
  /** How names become addresses; as the system does it unless said otherwise. */
  resolve?: ResolveHost
  /** Certificate authorities, as PEM, that are trusted besides those of the system. */
  extraCa?: readonly string[]
  /** How long a connection is kept for the next request when the receiver does not say. */
  keepAliveMs?: number
  /** To how many origins idle connections are kept. */
  maxOrigins?: number
}

type Undici = Pick<typeof import('undici'), 'buildConnector'>

/**
 * The one way out: every request that strangers ask for goes through here. It opens as many connections as there are
 * requests at a time; how many that may be is for the caller to say.
 */
export class OutboundClient implements Outbound {
  readonly #context: ExchangeContext
  readonly #systemResolver: SystemResolver
  readonly #resolve: ResolveHost
  readonly #extraCa: readonly string[]
  readonly #keepAliveMs: number
  readonly #maxOrigins: number
  #undici: Undici | undefined
  #secureContext: SecureContext | undefined
  /** Least recently used first. */
  readonly #origins = new Map<string, Origin>()

  constructor({ clock, resolve, extraCa = [], keepAliveMs = 4000, maxOrigins = 1000 }: OutboundOptions) {
    this.#context = { clock, draining: 0, closedBy: null }
    this.#systemResolver = new SystemResolver({ clock })
    this.#resolve = shareQuestions(resolve ?? this.#systemResolver.resolve)
    this.#extraCa = extraCa
    this.#keepAliveMs = keepAliveMs
    this.#maxOrigins = maxOrigins
  }

  send(request: OutboundRequest): Promise<Exchanged> {
    const { signal } = request
    if (this.#context.closedBy !== null) return Promise.reject(this.#context.closedBy)
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.#undici === undefined) return this.load().then(() => this.send(request))
    let ready: ReadyRequest
    try {
      ready = { ...request, ...requestBytes(request), waitedMs: 0 }
    } catch (error) {
      return Promise.resolve({ error: error as Error, address: null })
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => exchange.abort(signal?.reason)
      const end = () => signal?.removeEventListener('abort', giveUp)
      signal?.addEventListener('abort', giveUp)
      const exchange = this.begin(ready, {
        resolve: (exchanged) => {
          end()
          resolve(exchanged)
        },
        reject: (reason) => {
          end()
          reject(reason)
        },
      })
    })
  }

  /** The same for who has loaded it, is not closing it and can do without a promise. */
  begin(request: ReadyRequest, settle: Settle): Exchange {
    const origin = this.#originOf(request, this.#undici as Undici)
    const exchange = new Exchange(request, origin, this.#context, settle)
    if (exchange.isLate) exchange.onLate()
    else origin.send(exchange)
    return exchange
  }

  preparing(): Promise<void> | null {
    return this.#undici === undefined ? this.load() : null
  }

  async close(): Promise<void> {
    this.#context.closedBy ??= new Error('Nothing is sent any more: the server is stopping.')
    const { closedBy } = this.#context
    this.#systemResolver.close()
    await Promise.all([...this.#origins.values()].map((origin) => origin.destroy(closedBy)))
  }

  /** With the first request: a server that calls nobody need not carry it. */
  async load(): Promise<void> {
    this.#undici ??= await import('undici')
  }

  #originOf({ url, filter }: ReadyRequest, { buildConnector }: Undici): Origin {
    const key = wayKey(url, filter)
    const known = this.#origins.get(key)
    if (known !== undefined) {
      this.#origins.delete(key)
      this.#origins.set(key, known)
      return known
    }
    if (url.protocol === 'https:') this.#secureContext ??= createTlsContext(this.#extraCa)
    const origin: Origin = new Origin({
      origin: new URL(url.origin),
      connect: createGuardedConnect({
        buildConnector,
        resolve: this.#resolve,
        filter,
        secureContext: this.#secureContext,
      }),
      elapsedMs: () => this.#context.clock.elapsedMs(),
      keepAliveMs: this.#keepAliveMs,
      onEmpty: () => {
        if (this.#origins.get(key) === origin) this.#origins.delete(key)
      },
    })
    this.#makeRoom()
    this.#origins.set(key, origin)
    return origin
  }

  #makeRoom(): void {
    if (this.#origins.size < this.#maxOrigins) return
    for (const [key, origin] of this.#origins) {
      if (!origin.isIdle) continue
      this.#origins.delete(key)
      void origin.destroy(new Error('evicted'))
      return
    }
  }
}

// Many requests name the same two objects, and a text that is put together anew is hashed anew.
const keys = new WeakMap<URL, { filter: IpFilter; key: string }>()

function wayKey(url: URL, filter: IpFilter): string {
  const known = keys.get(url)
  if (known?.filter === filter) return known.key
  const key = `${url.origin} ${filter.key}`
  keys.set(url, { filter, key })
  return key
}
