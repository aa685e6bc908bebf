// Texts with a form of their own. Each is a pair of what it is called and how it is taken apart, to be spread
// into `text({ … })`.

import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { languageCode } from '../text/language-code.ts'

export const EMAIL = {
  what: 'an email address',
  parse: matching(/^[^\s@<>"(),:;[\]\\]{1,64}@[^\s@<>"(),:;[\]\\]{1,255}$/),
}

export const MAILBOX = {
  what: 'an email address, with or without a name before it',
  parse: matching(/^(?:[^<>@"]{1,200} <[^\s@<>"]{1,64}@[^\s@<>"]{1,255}>|[^\s@<>"]{1,64}@[^\s@<>"]{1,255})$/),
}

export const HOST = { what: 'an IP address or a host name', parse: hostOf }
export const CIDR = { what: 'an IP address or a range such as `10.0.0.0/8`', parse: cidrOf }
export const DOMAIN = { what: 'a domain name such as `example.org`', parse: domainOf }
// A user in it is never sent to a service, and would be shown to everybody in an address that people are given.
export const WEB_URL = { what: 'an http or https address without user or password', parse: webOf }
// Sent as a header, which has no place for the blank without width that comes along when a key is copied.
export const SERVICE_KEY = {
  what: 'text of at most 1000 ASCII characters on one line',
  parse: matching(/^[\x20-\x7e]*$/),
}
export const SOCKET_URL = { what: 'a ws or wss address', parse: addressOf(['ws:', 'wss:']) }
export const SMTP_URL = {
  what: 'an smtp or smtps address, with `%25` for a percent sign in the password, and so on for other signs, and with no parameter but `require_tls=true` or `require_tls=false`',
  parse: smtpOf,
}
export const POSTGRES_URL = {
  what: 'a postgres:// or postgresql:// address, with `%2F` for a slash in the password, and so on for other signs',
  parse: postgresOf,
}
export const ORIGIN = { what: 'an http or https address without path, query or user', parse: originOf }

export const DOMAIN_AND_PORT = {
  what: 'a domain name, with a port if it needs one',
  parse(text: string) {
    const [, name = '', port = ''] = /^([^:]+)(:\d{1,5})?$/.exec(text) ?? []
    const domain = domainOf(name)
    return domain === undefined || Number(port.slice(1)) > 65_535 ? undefined : domain + port
  },
}

export const LANGUAGE = {
  what: 'a language code such as `en` or `pt-BR`',
  parse: (text: string) => (/^[a-z]{2,3}([-_][a-z0-9]{2,8}){0,2}$/i.test(text) ? languageCode(text) : undefined),
}

export function matching(pattern: RegExp) {
  return (text: string): string | undefined => (pattern.test(text) ? text : undefined)
}

export function optional(format: { what: string; parse(text: string): string | undefined }) {
  return { what: `${format.what}, or empty`, parse: (text: string) => (text === '' ? text : format.parse(text)) }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function hostOf(text: string): string | undefined {
  if (isIP(text) !== 0) return text
  return /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(text) &&
    !/^[\d.]+$/.test(text)
    ? text.toLowerCase()
    : undefined
}

function cidrOf(text: string): string | undefined {
  const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family === 0) return undefined
  return bits === undefined || Number(bits) <= (family === 4 ? 32 : 128) ? text : undefined
}

function domainOf(text: string): string | undefined {
  const ascii = /[\s/:@?#%\\]/.test(text) ? '' : domainToASCII(text)
  return ascii !== '' && isIP(ascii) === 0 ? hostOf(ascii) : undefined
}

function addressOf(protocols: string[]) {
  return (text: string): string | undefined => {
    const url = URL.parse(text)
    return url && protocols.includes(url.protocol) && url.hostname !== '' ? text : undefined
  }
}

function webOf(text: string): string | undefined {
  const { username, password } = URL.parse(text) ?? {}
  return username === '' && password === '' ? addressOf(['http:', 'https:'])(text) : undefined
}

function smtpOf(text: string): string | undefined {
  const url = URL.parse(text)
  // Behind the host stands what was left of a password in which a sign stands as it is.
  if (url === null || !/^\/?$/.test(url.pathname) || url.hash !== '' || !isDecodable(url)) return undefined
  const parameters = [...url.searchParams]
  const isKnown = parameters.every(([name, value]) => name === 'require_tls' && /^(true|false)$/.test(value))
  return isKnown && parameters.length <= 1 ? addressOf(['smtp:', 'smtps:'])(text) : undefined
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(`${username}:${password}`)
    return true
  } catch {
    return false
  }
}

// A socket's address has no host: postgres:///name?host=/run/postgresql
function postgresOf(text: string): string | undefined {
  const url = /^postgres(ql)?:\/\//.test(text) ? URL.parse(text) : null
  // Behind an address that ends too early stands what was left of the password, which would be shown as the name of the database.
  const isCut = url !== null && (/@/.test(url.pathname + url.hash) || /^[^=&]*@/.test(url.search))
  return url === null || isCut ? undefined : text
}

function originOf(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  return url.pathname === '/' && url.search === '' && url.hash === '' && !/[?#]/.test(text) ? url.origin : undefined
}
