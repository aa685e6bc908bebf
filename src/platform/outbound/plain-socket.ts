import { connect, type LookupFunction, type Socket } from 'node:net'

const TCP_KEEP_ALIVE_MS = 60_000
const READ_BYTES = 64 * 1024
/**
 * Of a name with several addresses, how long one of them is waited for before the next is tried: Node gives up the one before, and its
 * 250 ms are less than a receiver on the other side of the world takes to answer. Enough for a first packet that was lost.
 */
export const ADDRESS_TIMEOUT_MS = 2_000

// Of all sockets: whoever is given bytes is done with them before the next ones are read.
const buffer = Buffer.allocUnsafeSlow(READ_BYTES)

/** A socket without TLS. Memory of its own for each piece that is read would take as long as to read it. */
export interface PlainSocket extends Socket {
  /** Set by who reads from it. The bytes are there until it returns. */
  onBytes: ((bytes: Buffer) => void) | undefined
}

/** Calls back once. */
export function connectPlain(
  target: { hostname: string; port: string; lookup: LookupFunction },
  callback: (error: Error | null, socket: Socket | null) => void,
): PlainSocket {
  const socket = connect({
    host: target.hostname,
    port: Number(target.port || 80),
    lookup: target.lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    onread: {
      buffer,
      callback: (length) => {
        socket.onBytes?.(buffer.subarray(0, length))
        return true
      },
    },
  }) as PlainSocket
  socket.onBytes = undefined
  let stands = false
  socket.once('connect', () => {
    stands = true
    callback(null, socket)
  })
  // For good: an error that nobody hears ends the process.
  socket.on('error', (error) => {
    if (!stands) callback(error, null)
    stands = true
  })
  return socket
}

export function isPlain(socket: Socket): socket is PlainSocket {
  return Object.hasOwn(socket, 'onBytes')
}
