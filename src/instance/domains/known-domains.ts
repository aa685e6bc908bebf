import type { Reader } from '../../platform/storage/database.ts'
import type { InstanceSettings } from '../settings.ts'
import { type CallbackHosts, countCallbackTargets, readCallbackHosts } from './store-callback-hosts.ts'
import { readDomainNames } from './store-named-domains.ts'

/**
 * Of every domain that is known: hosts of callback targets, declared peers, allowed and blocked domains. The lists may
 * be long and are asked about every few seconds: they are read again only when they may have changed, and of hosts only the new ones.
 */
export class KnownDomains {
  #named: { version: number; names: ReadonlySet<string> } | undefined
  #hosts: CallbackHosts | undefined

  /** `version` counts the changes of administrators. */
  async count(reader: Reader, settings: InstanceSettings, version: number): Promise<number> {
    const named = await this.#readNamed(reader, settings, version)
    const hosts = await this.#readHosts(reader)
    const [few, many] = named.size < hosts.size ? [named, hosts] : [hosts, named]
    let count = many.size
    for (const name of few) if (!many.has(name)) count++
    return count
  }

  async #readNamed(reader: Reader, settings: InstanceSettings, version: number): Promise<ReadonlySet<string>> {
    if (this.#named?.version === version) return this.#named.names
    const names = new Set(settings.peers.declared)
    for (const list of ['declared_peers', 'domain_allows', 'domain_blocks'] as const) {
      for (const name of await readDomainNames(reader, list)) names.add(name)
    }
    this.#named = { version, names }
    return names
  }

  /** Rows are added at the end. Where the number of all is another one, some went with their namespace, or one was late. */
  async #readHosts(reader: Reader): Promise<ReadonlySet<string>> {
    const hosts = await readCallbackHosts(reader, 'all', this.#hosts)
    const isWhole = hosts.rows === (await countCallbackTargets(reader))
    this.#hosts = isWhole ? hosts : await readCallbackHosts(reader, 'all')
    return this.#hosts.names
  }
}
