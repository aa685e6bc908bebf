import type { FastifyInstance } from 'fastify'
import { type Clock, settlesWithin } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'

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
    throw explain(error, host, port)
  }
  const address = server.server.address()
  const actual = typeof address === 'object' && address !== null ? address.port : port
  return { host, port: actual, url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}` }
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

function explain(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new AppError(
        'unavailable',
        `Port ${port} on ${host} is in use: stop the program that uses it, or set server.port (COMMONPLACE_PORT) to another`,
        { cause: error },
      )
    case 'EACCES':
      return new AppError(
        'unavailable',
        `Port ${port} may not be used by this user: set server.port to one above 1023`,
        {
          cause: error,
        },
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new AppError('unavailable', `${host} is no address of this machine: set server.host (COMMONPLACE_HOST)`, {
        cause: error,
      })
    default:
      return error
  }
}
