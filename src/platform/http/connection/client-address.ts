import { isIPv6 } from 'node:net'

// As some proxies forward it: `192.0.2.1:5678`, `[2001:db8::1]:5678`.
const WITH_PORT = /^(?:\[([\da-fA-F:.]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/

/** `::ffff:192.0.2.1` is 192.0.2.1 that came in through an IPv6 socket. A port is no part of an address. */
export function plainAddress(address: string): string {
  const [, long, short] = WITH_PORT.exec(address) ?? []
  const alone = long ?? short ?? address
  return alone.startsWith('::ffff:') && alone.includes('.') ? alone.slice(7) : alone
}

/** Whose counter an address is: one subscriber has a whole /64 of IPv6 and could change address with every request. */
export function networkOf(address: string): string {
  const plain = plainAddress(address)
  return plain.includes(':') && isIPv6(plain) ? `${firstGroups(plain).join(':')}::/64` : plain
}

function firstGroups(address: string): string[] {
  const [head = '', tail] = (address.split('%', 1)[0] as string).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...new Array<string>(zeros).fill('0'), ...right]
  return groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
}
