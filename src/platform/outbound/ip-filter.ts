import { fromIpv4, type IpNumber, type IpRange, isWithin, parseIp, parseRange } from './ip-address.ts'

export interface IpFilter {
  /** The same for filters that judge alike: a connection made under one of them may be used under the other. */
  readonly key: string
  /** For an address that a name was resolved to, and for the host of a URL. A name is not denied: nobody knows yet. */
  isDenied(host: string): boolean
}

/** Own networks, documentation, multicast, reserved: nothing that a stranger may ask this server to call. */
const DENIED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '168.63.129.16', // a cloud's host, reachable from every guest
  '169.254.0.0/16', // link-local, with the metadata services of most clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4', // with 255.255.255.255
  '::/96', // unspecified, loopback and the deprecated form of IPv4
  '64:ff9b:1::/48', // NAT64 of somebody's own network: where the IPv4 address stands in it is theirs to choose
  '100::/64',
  '2001::/23', // with Teredo
  '2001:db8::/32',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map(rangeOf)

/** Ranges whose addresses stand for an IPv4 address, and how far from the right it is found. */
const EMBEDDING = [
  { range: rangeOf('64:ff9b::/96'), shift: 0n }, // NAT64
  { range: rangeOf('::ffff:0:0:0/96'), shift: 0n }, // IPv4-translated
  { range: rangeOf('2002::/16'), shift: 80n }, // 6to4
]

/** The same few hosts are asked for at each attempt, and judging takes some microseconds. */
const MAX_JUDGED = 1000

export function createIpFilter(allowedCidrs: readonly string[]): IpFilter {
  const allowed = allowedCidrs.map(rangeOf)
  const judged = new Map<string, boolean>()
  return {
    key: allowedCidrs.join(' '),
    isDenied(host) {
      const known = judged.get(host)
      if (known !== undefined) return known
      if (judged.size >= MAX_JUDGED) judged.clear()
      const isDenied = judge(host, allowed)
      judged.set(host, isDenied)
      return isDenied
    },
  }
}

/** The filter that has this key. */
export function ipFilterOf(key: string): IpFilter {
  return createIpFilter(key === '' ? [] : key.split(' '))
}

function judge(host: string, allowed: readonly IpRange[]): boolean {
  const parsed = parseIp(host)
  if (parsed === undefined) return isBrokenAddress(host)
  const address = judgedAddress(parsed)
  const isIn = (range: IpRange) => isWithin(address, range)
  return DENIED.some(isIn) && !allowed.some(isIn)
}

function judgedAddress(address: IpNumber): IpNumber {
  const embedding = EMBEDDING.find(({ range }) => isWithin(address, range))
  return embedding === undefined ? address : fromIpv4((address >> embedding.shift) & 0xffff_ffffn)
}

/** What looks like an address but is none may be one to somebody else. No name ends in a number or holds a colon. */
function isBrokenAddress(host: string): boolean {
  const labels = host.split('.')
  const last = labels.length > 1 && labels.at(-1) === '' ? labels.at(-2) : labels.at(-1)
  return host.includes(':') || /^(\d+|0x[0-9a-f]*)$/i.test(last ?? '')
}

function rangeOf(text: string): IpRange {
  const range = parseRange(text)
  if (range === undefined) throw new Error(`"${text}" is no range of addresses.`)
  return range
}
