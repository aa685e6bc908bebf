// The system's own look-up (getaddrinfo) blocks a thread of the pool that all of Node shares, and only two at a time: two
// names whose servers are silent would hold up every other name. So the servers are asked without threads; the
// system's look-up follows only where they say at once that they do not know the name, since the system may know more
// sources: search domains, the local network.
import { lookup, Resolver } from 'node:dns/promises'
import { isDeepStrictEqual } from 'node:util'
import { HostsFile } from './hosts-file.ts'
import type { ResolvedAddress, ResolveHost } from './resolve-host.ts'

export interface SystemResolverOptions {
  /** Name servers to ask; those of the system unless said otherwise. */
  servers?: () => string[]
  hostsPath?: string
}

const TIMEOUT_MS = 2000
const TRIES = 2
/** What would take just as long when asked again. */
const SLOW_CODES = new Set(['ETIMEOUT', 'ECANCELLED', 'ESERVFAIL', 'EREFUSED'])

export class SystemResolver {
  readonly #hosts: HostsFile
  readonly #newServers: () => Resolver
  #servers: Resolver

  constructor({ servers, hostsPath }: SystemResolverOptions = {}) {
    this.#hosts = new HostsFile(hostsPath)
    this.#newServers = () => {
      const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
      if (servers !== undefined) resolver.setServers(servers())
      return resolver
    }
    this.#servers = this.#newServers()
  }

  readonly resolve: ResolveHost = async (host) => {
    const listed = await this.#hosts.addressesOf(host)
    if (listed.length > 0) return listed
    const [ipv4, ipv6] = await Promise.allSettled([this.#servers.resolve4(host), this.#servers.resolve6(host)])
    const found = [...addressesIn(ipv4, 4), ...addressesIn(ipv6, 6)]
    if (found.length > 0) return found
    const failure = [ipv4, ipv6].find((answer) => answer.status === 'rejected' && SLOW_CODES.has(answer.reason.code))
    if (failure?.status === 'rejected') {
      this.#follow()
      throw failure.reason
    }
    return (await lookup(host, { all: true, order: 'verbatim' })) as ResolvedAddress[]
  }

  /** A machine may be given other servers at any time, and a resolver asks those that it found when it was made. */
  #follow(): void {
    const now = this.#newServers()
    if (isDeepStrictEqual(now.getServers(), this.#servers.getServers())) return
    this.#servers.cancel()
    this.#servers = now
  }

  /** Gives up open questions, which would keep the process from ending. */
  close(): void {
    this.#servers.cancel()
  }
}

function addressesIn(answer: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}
