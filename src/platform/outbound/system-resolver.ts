// The system's own look-up (getaddrinfo) blocks a thread of the pool that all of Node shares, and only two at a time: two
// names whose servers are silent would hold up every other name. So the servers are asked without threads; the
// system's look-up follows only where they say at once that they do not know the name, since the system may know more
// sources: search domains, the local network.
import { lookup, Resolver } from 'node:dns/promises'
import { HostsFile } from './hosts-file.ts'
import type { ResolvedAddress, ResolveHost } from './resolve-host.ts'

export interface SystemResolverOptions {
  /** Name servers to ask instead of those of the system. */
  servers?: string[]
  hostsPath?: string
}

const TIMEOUT_MS = 2000
const TRIES = 2
/** What would take just as long when asked again. */
const SLOW_CODES = new Set(['ETIMEOUT', 'ECANCELLED', 'ESERVFAIL', 'EREFUSED'])

export class SystemResolver {
  readonly #hosts: HostsFile
  readonly #servers: Resolver

  constructor({ servers, hostsPath }: SystemResolverOptions = {}) {
    this.#hosts = new HostsFile(hostsPath)
    this.#servers = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
    if (servers !== undefined) this.#servers.setServers(servers)
  }

  readonly resolve: ResolveHost = async (host) => {
    const listed = await this.#hosts.addressesOf(host)
    if (listed.length > 0) return listed
    const [ipv4, ipv6] = await Promise.allSettled([this.#servers.resolve4(host), this.#servers.resolve6(host)])
    const found = [...addressesIn(ipv4, 4), ...addressesIn(ipv6, 6)]
    if (found.length > 0) return found
    const failure = [ipv4, ipv6].find((answer) => answer.status === 'rejected' && SLOW_CODES.has(answer.reason.code))
    if (failure?.status === 'rejected') throw failure.reason
    return (await lookup(host, { all: true, order: 'verbatim' })) as ResolvedAddress[]
  }

  /** Gives up open questions, which would keep the process from ending. */
  close(): void {
    this.#servers.cancel()
  }
}

function addressesIn(answer: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}
