import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { ResolvedAddress } from './resolve-host.ts'

/** Names that the operator of this machine has given addresses; read anew when the file has changed. */
export class HostsFile {
  readonly #path: string
  #version = ''
  #names = new Map<string, ResolvedAddress[]>()

  constructor(path = '/etc/hosts') {
    this.#path = path
  }

  async addressesOf(host: string): Promise<readonly ResolvedAddress[]> {
    try {
      const { mtimeMs, size } = await stat(this.#path)
      const version = `${mtimeMs} ${size}`
      if (version !== this.#version) {
        this.#names = readNames(await readFile(this.#path, 'utf8'))
        this.#version = version
      }
    } catch {
      return [] // systems without such a file
    }
    return this.#names.get(host.toLowerCase()) ?? []
  }
}

function readNames(text: string): Map<string, ResolvedAddress[]> {
  const names = new Map<string, ResolvedAddress[]>()
  for (const line of text.split('\n')) {
    const [content = ''] = line.split('#', 1)
    const [address = '', ...given] = content.trim().split(/\s+/)
    const family = isIP(address)
    if (family !== 4 && family !== 6) continue
    for (const name of given.map((text) => text.toLowerCase())) {
      const known = names.get(name)
      if (known === undefined) names.set(name, [{ address, family }])
      else known.push({ address, family })
    }
  }
  return names
}
