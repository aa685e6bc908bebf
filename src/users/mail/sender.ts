import type { Mailbox } from './smtp.ts'

/** `Commonplace <noreply@example.org>` in its parts; without a setting the host of the public address is the domain. */
export function senderOf(mailFrom: string | null, baseUrl: string): Mailbox {
  if (mailFrom === null) return { name: 'Commonplace', address: `noreply@${mailDomain(baseUrl)}` }
  const [, name = '', address = mailFrom] = /^(.*) <([^<>]+)>$/.exec(mailFrom) ?? []
  return { name, address }
}

/** An IP address stands in brackets where a mail address wants a domain. */
export function mailDomain(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  if (hostname.startsWith('[')) return `[IPv6:${hostname.slice(1, -1)}]`
  return /^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname
}
