import { isIP } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sortInTurns } from '../../platform/clock/sort-in-turns.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { compareTexts } from '../../platform/text/compare-texts.ts'
import type { InstanceSettings } from '../settings.ts'
import { normaliseDomain } from './normalise-domain.ts'
import { readCallbackHosts } from './store-callback-hosts.ts'
import { readDomainNames } from './store-named-domains.ts'

/** Names that mean something only where they are used, or nothing at all. */
const NOT_PUBLIC = ['local', 'localhost', 'internal', 'test', 'example', 'invalid', 'onion', 'home.arpa']

// There may be very many of them.
const NAMES_PER_TURN = 5_000

/** Whether a normalised name may be published as a peer at all. */
export function isPublicName(domain: string): boolean {
  if (!domain.includes('.') || isIP(domain) !== 0) return false
  return !NOT_PUBLIC.some((suffix) => domain === suffix || domain.endsWith(`.${suffix}`))
}

/** In order, each once, from the sources that are switched on, without us and without what has a block of any kind. */
export async function readPeers(reader: Reader, settings: InstanceSettings, ownDomain: string): Promise<string[]> {
  const { sources, declared } = settings.peers
  const left = new Set(await readDomainNames(reader, 'domain_blocks')).add(hostOf(ownDomain))
  const peers = new Set<string>()
  let looked = 0
  const add = async (names: Iterable<string>) => {
    for (const name of names) {
      if (!left.has(name) && isPublicName(name)) peers.add(name)
      if (++looked % NAMES_PER_TURN === 0) await nextTurn()
    }
  }
  if (sources.includes('declared')) {
    await add(declared)
    await add(await readDomainNames(reader, 'declared_peers'))
  }
  if (sources.includes('callbacks')) await add((await readCallbackHosts(reader, 'accepted')).names)
  // By code units, which for these names is by bytes.
  return sortInTurns(peers, compareTexts)
}

function hostOf(domain: string): string {
  const [name = ''] = domain.split(':')
  return normaliseDomain(name) ?? name
}
