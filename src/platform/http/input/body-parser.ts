import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors/app-error.ts'

type Done = (error: Error | null, body?: unknown) => void

/**
 * For bodies that arrive as bytes. Nothing unpacks them here: one that is compressed is refused as what it is, not read as what it
 * is not.
 */
export function bodyParser(read: (body: Buffer) => unknown) {
  return ({ headers }: FastifyRequest, body: Buffer | string, done: Done): void => {
    let value: unknown
    try {
      const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
      if (coding !== 'identity') throw new AppError('unsupported_media_type', 'Unsupported content encoding')
      value = read(body as Buffer)
    } catch (error) {
      done(error as Error)
      return
    }
    done(null, value)
  }
}
