/** Where a callback goes, read once so that rules, filter and request cannot disagree about what the address means. */
export interface Target {
  /** As a socket needs it: the host in its one canonical spelling. */
  url: URL
  /** `host[:port]` as written, in lower case: what address rules are compared with. */
  authority: string
  /** Path and query as written, without the fragment; only what a request line cannot hold is escaped. */
  requestPath: string
  hasCredentials: boolean
}

export type TargetReading = { target: Target; problem?: undefined } | { target?: undefined; problem: string }

const SCHEME = /^([a-z][a-z0-9+.-]*):/i
const AUTHORITY = /^[^:]+:\/\/([^/?#]*)([^#]*)/

// Many callbacks go to one address.
const MOST_KNOWN = 1_000
const known = new Map<string, TargetReading>()

export function readTarget(text: string): TargetReading {
  const before = known.get(text)
  if (before !== undefined) return before
  const reading = parseTarget(text)
  if (reading.target !== undefined) {
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(text, reading)
  }
  return reading
}

function parseTarget(text: string): TargetReading {
  if (text === '') return { problem: 'callback url is not set' }
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  if (scheme !== 'http' && scheme !== 'https') return { problem: 'callback url must have the scheme http or https' }
  const [, written = '', rest = ''] = AUTHORITY.exec(text) ?? []
  const host = written.slice(written.lastIndexOf('@') + 1)
  if (host === '' || host.startsWith(':')) return { problem: 'callback url is missing host' }
  // URL reads a backslash as a slash and leaves out line ends: others do not, so such an address has two meanings.
  const url = /\p{Cc}/u.test(text) || written.includes('\\') ? null : URL.parse(text)
  if (url === null || url.hostname === '') return { problem: 'callback url cannot be parsed' }
  return {
    target: { url, authority: host.toLowerCase(), requestPath: pathOf(rest), hasCredentials: written.includes('@') },
  }
}

function pathOf(rest: string): string {
  const path = rest.startsWith('/') ? rest : `/${rest}`
  return path.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent)
}

export function portOf({ url }: Target): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}
