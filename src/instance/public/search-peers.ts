import { normaliseDomain } from '../domains/normalise-domain.ts'

const MOST_FOUND = 10
// Of signs that names are kept in.
const PLAIN = /^[\w.-]+$/

/** Up to ten of the sorted names that begin like this; none for a text that no name can begin with. */
export function searchPeers(peers: readonly string[], text: string): string[] {
  const prefix = prefixOf(text)
  if (prefix === undefined) return []
  const found: string[] = []
  for (let at = firstFrom(peers, prefix); at < peers.length && found.length < MOST_FOUND; at++) {
    const name = peers[at] as string
    if (!name.startsWith(prefix)) break
    found.push(name)
  }
  return found
}

/** A dot at the end is meant: `example.` begins `example.org`. The beginning of a name need not be one: `163` is an address. */
function prefixOf(text: string): string | undefined {
  const trimmed = text.trim()
  if (PLAIN.test(trimmed)) return trimmed.toLowerCase()
  const domain = normaliseDomain(trimmed)
  return domain === undefined ? undefined : domain + (trimmed.endsWith('.') ? '.' : '')
}

function firstFrom(names: readonly string[], prefix: string): number {
  let [low, high] = [0, names.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((names[middle] as string) < prefix) low = middle + 1
    else high = middle
  }
  return low
}
