import type { Reader } from '../../platform/storage/database.ts'
import type { InstanceSettings } from '../settings.ts'
import { callbackHostsMark, readCallbackHosts } from './store-callback-hosts.ts'
import { readDomainNames } from './store-named-domains.ts'

/**
 * Of every domain that is known: hosts of callback targets, declared peers, allowed and blocked domains. The lists may
 * be long and are asked about every few seconds, so they are read again only when they may have changed.
 */
export class KnownDomains {
  #named: { version: number; names: ReadonlySet<string> } | undefined
  #hosts: { mark: string; names: ReadonlySet<string> } | undefined

  /** `version` counts the changes of administrators. */
  async count(reader: Reader, settings: InstanceSettings, version: number): Promise<number> {
    const named = await this.#readNamed(reader, settings, version)
    let count = named.size
    for (const host of await this.#readHosts(reader)) if (!named.has(host)) count++
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

  async #readHosts(reader: Reader): Promise<ReadonlySet<string>> {
    const mark = await callbackHostsMark(reader)
    if (this.#hosts?.mark !== mark) this.#hosts = { mark, names: await readCallbackHosts(reader, 'all') }
    return this.#hosts.names
  }
}
