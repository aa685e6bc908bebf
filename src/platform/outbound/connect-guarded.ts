import { isIP, type LookupFunction, type Socket } from 'node:net'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import { AddressRefused } from './address-refused.ts'
import type { IpFilter } from './ip-filter.ts'
import { ADDRESS_TIMEOUT_MS, connectPlain } from './plain-socket.ts'
import type { ResolveHost } from './resolve-host.ts'

/** Opens a socket and calls back once; the answer is the socket on its way, so that it can be given up. */
export type GuardedConnect = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket

export interface GuardedConnectOptions {
  buildConnector: typeof buildConnector
  resolve: ResolveHost
  filter: IpFilter
  /** Not needed for plain HTTP. */
  secureContext: SecureContext | undefined
}

/** Made once for all connections: making one takes longer than a handshake. */
export function createTlsContext(extraCa: readonly string[]): SecureContext {
  const ca = extraCa.length === 0 ? undefined : [...getCACertificates('default'), ...extraCa]
  return createSecureContext({ ca, minVersion: 'TLSv1.2' })
}

/**
 * Sockets only to addresses that the filter lets pass. A name is resolved once, all its addresses are judged, and the
 * socket is opened to these addresses and no others; host header and TLS name remain those of the URL.
 */
export function createGuardedConnect(options: GuardedConnectOptions): GuardedConnect {
  const { resolve, filter, secureContext } = options
  const lookup = createGuardedLookup(resolve, filter)
  const connect = options.buildConnector({
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    allowH2: true, // the receiver chooses
    timeout: 0, // an attempt has one time limit, which is not ours
    maxCachedSessions: 1,
    secureContext,
    // Said aloud, because NODE_TLS_REJECT_UNAUTHORIZED would change what goes without saying.
    rejectUnauthorized: true,
  } as buildConnector.BuildOptions) as unknown as GuardedConnect
  return (target, callback) => {
    const judge: buildConnector.Callback = (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      const problem = problemOf(socket, filter)
      if (problem === undefined) return callback(null, socket)
      socket.destroy()
      callback(problem, null)
    }
    if (target.protocol === 'https:') return connect(target, judge)
    return connectPlain({ ...target, lookup }, judge as Parameters<typeof connectPlain>[1])
  }
}

/** Whatever happened before: no request is written to an address that is denied. */
function problemOf({ remoteAddress }: Socket, filter: IpFilter): Error | undefined {
  if (remoteAddress === undefined) return new Error('other side closed')
  return filter.isDenied(remoteAddress) ? new AddressRefused() : undefined
}

function createGuardedLookup(resolve: ResolveHost, filter: IpFilter): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined) return callback(new Error(`${host} has no address`), '')
        // One denied address among several is enough: the order of the answers is the name server's to choose.
        if (addresses.some(({ address }) => isIP(address) === 0 || filter.isDenied(address))) {
          return callback(new AddressRefused(), '')
        }
        if (options.all) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, ''),
    )
  }
}
