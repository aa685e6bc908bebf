import { isIPv6 } from 'node:net'

/** `::ffff:192.0.2.1` is 192.0.2.1 that came in through an IPv6 socket. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
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
