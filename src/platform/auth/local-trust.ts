/**
 * The rule by which `dev` lets a person at their own machine in without credentials. Each condition closes one hole:
 *
 * - the connection comes over loopback: nobody on the network;
 * - no forwarding header: nobody behind a proxy or tunnel that runs on this machine;
 * - `Host` is a loopback name: no page whose name was re-bound to 127.0.0.1;
 * - `Origin`, when there is one, is ours: no page of another site or of another port.
 */
import type { CredentialSource } from './credentials.ts'

export function isTrustedLocally(source: CredentialSource): boolean {
  return (
    isLoopbackAddress(source.remoteAddress) &&
    !isForwarded(source) &&
    isLoopbackHost(source.header('host') ?? source.header(':authority')) &&
    isOwnOrigin(source)
  )
}

export function isLoopbackAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:/, '')
  return plain === '::1' || isLoopbackV4(plain)
}

function isLoopbackV4(text: string): boolean {
  const parts = text.split('.')
  return (
    parts.length === 4 &&
    parts[0] === '127' &&
    parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  )
}

function isForwarded(source: CredentialSource): boolean {
  for (const name of source.headerNames()) {
    if (name === 'forwarded' || name === 'x-real-ip' || name.startsWith('x-forwarded-')) return true
  }
  return false
}

/** `localhost`, `*.localhost`, 127.0.0.0/8 or `[::1]`, with or without a port. */
export function isLoopbackHost(host: string | undefined): boolean {
  if (host === undefined) return false
  const match = /^(\[::1\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host)
  if (match === null) return false
  const name = (match[1] as string).toLowerCase()
  return name === '[::1]' || isLoopbackV4(name) || /^([a-z0-9-]+\.)*localhost$/.test(name)
}

/**
 * A person may open the console as `localhost`, `127.0.0.1` or `[::1]`: all are this server as long as the origin
 * names the host the request went to, and the port is the one we listen on.
 */
function isOwnOrigin(source: CredentialSource): boolean {
  const origin = source.header('origin')
  if (origin === undefined || origin === source.serverOrigin) return true
  const host = source.header('host') ?? source.header(':authority')
  if (origin.toLowerCase() !== `http://${host}`.toLowerCase()) return false
  return portOf(origin) === portOf(source.serverOrigin)
}

function portOf(origin: string): string {
  const url = URL.parse(origin)
  return url === null ? 'none' : url.port || (url.protocol === 'https:' ? '443' : '80')
}
