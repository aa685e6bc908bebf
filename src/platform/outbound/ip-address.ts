// Addresses as 128-bit numbers. An IPv4 address is the number of its mapped form `::ffff:a.b.c.d`, so that both are one.
import { isIPv6 } from 'node:net'

export type IpNumber = bigint

export interface IpRange {
  base: IpNumber
  bits: number
}

const MAPPED = 0xffffn << 32n
const TOTAL_BITS = 128
const IPV4_OFFSET = 96

/** Every spelling a URL, a resolver or inet_aton takes; undefined for what is no address. */
export function parseIp(text: string): IpNumber | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (bare.includes(':')) return parseIpv6(bare)
  const ipv4 = parseIpv4(bare)
  return ipv4 === undefined ? undefined : fromIpv4(ipv4)
}

/** `10.0.0.0/8`, `fc00::/7` or a single address. */
export function parseRange(text: string): IpRange | undefined {
  const [address = '', bits, more] = text.split('/')
  const base = parseIp(address)
  if (base === undefined || more !== undefined) return undefined
  const offset = address.includes(':') ? 0 : IPV4_OFFSET
  const length = bits === undefined ? TOTAL_BITS : /^\d{1,3}$/.test(bits) ? Number(bits) + offset : Number.NaN
  return length <= TOTAL_BITS ? { base, bits: length } : undefined
}

export function isWithin(address: IpNumber, { base, bits }: IpRange): boolean {
  // `::/0` means IPv6: it must not open all of IPv4 as well.
  if (isIpv4(address) && bits < IPV4_OFFSET) return false
  const shift = BigInt(TOTAL_BITS - bits)
  return address >> shift === base >> shift
}

function isIpv4(address: IpNumber): boolean {
  return address >> 32n === MAPPED >> 32n
}

export function fromIpv4(ipv4: number | bigint): IpNumber {
  return MAPPED | BigInt(ipv4)
}

/** One to four parts, each decimal, octal (`0…`) or hexadecimal (`0x…`); the last one fills what is left. */
function parseIpv4(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length > 1 && parts.at(-1) === '') parts.pop()
  if (parts.length > 4) return undefined
  const numbers = parts.map(parsePart)
  const last = numbers.pop() as number
  if (!(last < 256 ** (4 - numbers.length)) || numbers.some((number) => !(number < 256))) return undefined
  return numbers.reduce((sum, number, index) => sum + number * 256 ** (3 - index), last)
}

function parsePart(text: string): number {
  if (/^0x[0-9a-f]*$/i.test(text)) return text.length === 2 ? 0 : Number(text)
  if (/^0[0-7]*$/.test(text)) return Number.parseInt(text, 8)
  return /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN
}

function parseIpv6(text: string): IpNumber | undefined {
  const [plain = ''] = text.split('%', 1)
  if (!isIPv6(plain)) return undefined
  const [head = '', tail] = withoutDots(plain).split('::')
  const left = groupsOf(head)
  const right = tail === undefined ? [] : groupsOf(tail)
  const zeros = new Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

function withoutDots(text: string): string {
  if (!text.includes('.')) return text
  const start = text.lastIndexOf(':') + 1
  const ipv4 = parseIpv4(text.slice(start)) as number
  return `${text.slice(0, start)}${Math.floor(ipv4 / 65_536).toString(16)}:${(ipv4 % 65_536).toString(16)}`
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':')
}
