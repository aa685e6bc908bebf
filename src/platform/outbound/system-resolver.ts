// The system's own look-up (getaddrinfo) blocks a thread of the pool that all of Node shares, and only two at a time: two
// names whose servers are silent would hold up every other name. So the servers are asked without threads; the
// system's look-up follows only where they say at once that they do not know the name, since the system may know more
// sources: search domains, the local network.
import { lookup, Resolver } from 'node:dns/promises'
import { open } from 'node:fs/promises'
import { devNull } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { type Clock, settlesWithin } from '../clock/clock.ts'
import { HostsFile } from './hosts-file.ts'
import { isNotBegun } from './not-begun.ts'
import type { ResolvedAddress, ResolveHost } from './resolve-host.ts'

export interface SystemResolverOptions {
  clock: Clock
  /** Name servers to ask; those of the system unless said otherwise. */
  servers?: () => string[]
  hostsPath?: string
}

const TIMEOUT_MS = 2000
const TRIES = 2
// There are servers that never say that a name has no IPv6 addresses.
const IPV6_MS = 1000
/** What would take just as long when asked again. */
const SLOW_CODES = new Set(['ETIMEOUT', 'ECANCELLED', 'ESERVFAIL', 'EREFUSED'])

export class SystemResolver {
  readonly #clock: Clock
  readonly #hosts: HostsFile
  readonly #newServers: () => Resolver
  #servers: Resolver

  constructor({ clock, servers, hostsPath }: SystemResolverOptions) {
    this.#clock = clock
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
    const { found, failures } = await this.#ask(host)
    if (found.length > 0) return found
    const failure = failures.find(({ code = '' }) => SLOW_CODES.has(code))
    if (failure !== undefined) {
      this.#follow()
      throw failure
    }
    try {
      return (await lookup(host, { all: true, order: 'verbatim' })) as ResolvedAddress[]
    } catch (error) {
      const trouble = await openTrouble()
      throw isNotBegun(trouble) ? trouble : error
    }
  }

  /**
   * For both families at once. When there are IPv4 addresses the others are waited for a little; what is said later is not used. Those of
   * IPv6 alone are not enough: many machines cannot reach them.
   */
  async #ask(host: string): Promise<{ found: ResolvedAddress[]; failures: NodeJS.ErrnoException[] }> {
    const found: ResolvedAddress[] = []
    const failures: NodeJS.ErrnoException[] = []
    const hear = async (family: 4 | 6, answer: Promise<string[]>) => {
      try {
        for (const address of await answer) found.push({ address, family })
      } catch (error) {
        failures.push(error as NodeJS.ErrnoException)
      }
    }
    const answers = [hear(4, this.#servers.resolve4(host)), hear(6, this.#servers.resolve6(host))]
    const both = Promise.all(answers)
    await Promise.race(answers)
    if (found.some(({ family }) => family === 4)) await settlesWithin(this.#clock, IPV6_MS, both)
    else await both
    return { found: found.toSorted((a, b) => a.family - b.family), failures }
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

/** Where this process may open no further file nobody was asked, and the system calls it an unknown name all the same. */
function openTrouble(): Promise<unknown> {
  return open(devNull).then(
    (file) => file.close(),
    (trouble: unknown) => trouble,
  )
}
