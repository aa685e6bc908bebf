import type { FastifyInstance } from 'fastify'
import { type Clock, settlesWithin } from '../../clock/clock.ts'
import { hostAndPort } from './host-and-port.ts'
import { listenFailure } from './listen-failure.ts'

export interface Listening {
  host: string
  port: number
  /** For a person to open: `http://127.0.0.1:4040`. */
  url: string
}

export async function listen(server: FastifyInstance, host: string, port: number): Promise<Listening> {
  try {
    await server.listen({ host, port })
  } catch (error) {
    throw listenFailure(error, { host, port, what: 'Port', setting: 'server.port', variable: 'COMMONPLACE_PORT' })
  }
  const address = server.server.address()
  const actual = typeof address === 'object' && address !== null ? address.port : port
  return { host, port: actual, url: `http://${hostAndPort(host, actual)}` }
}

/**
 * Stops accepting, lets what is in flight finish and closes connections as they fall idle; after `graceMs` it
 * closes the rest. True when nothing had to be cut off.
 */
export async function closeGracefully(server: FastifyInstance, clock: Clock, graceMs: number): Promise<boolean> {
  const closed = server.close()
  const finished = await settlesWithin(clock, graceMs, closed)
  if (!finished) server.server.closeAllConnections()
  await closed
  return finished
}
