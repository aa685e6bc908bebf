import type { FastifyRequest, preParsingHookHandler } from 'fastify'
import { callerKey } from '../../auth/principal.ts'
import { AppError } from '../../errors/app-error.ts'
import { BodyRoom, LARGE_BODY_BYTES } from '../../memory/body-room.ts'
import { callerWentAway } from '../answer/gone-signal.ts'
import type { HttpPlatform } from '../platform.ts'

const LONGEST_WAIT_MS = 15_000

/**
 * Before the body is read: a large one comes in when there is memory for it. Where some dozens arrive at once, each with what is made of
 * it, the server would end.
 */
export function largeBodyHook(
  { bodyMemory, clock, settings }: Pick<HttpPlatform, 'bodyMemory' | 'clock' | 'settings'>,
  bodyLimit: number,
): preParsingHookHandler {
  // Before the request would be too late to arrive.
  const waitMs = Math.min(LONGEST_WAIT_MS, settings.request_timeout / 2 || LONGEST_WAIT_MS)
  return (request, reply, payload, done) => {
    const bytes = expectedBytes(request, bodyLimit)
    if (bytes <= LARGE_BODY_BYTES) {
      done(null, payload)
      return
    }
    const room = new BodyRoom(bodyMemory, request.principal === null ? request.ip : callerKey(request.principal))
    const cancel = clock.after(waitMs, () => room.leave(busy()))
    // It may have gone while its credentials were looked up.
    if (reply.raw.destroyed) room.leave()
    else reply.raw.once('close', () => room.leave(callerWentAway()))
    room
      .enter(bytes)
      .finally(cancel)
      .then(
        () => done(null, payload),
        (error: Error) => {
          if (!reply.raw.destroyed) done(error)
        },
      )
  }
}

/** One that says no length may have as much as it may. What is too large is refused before it is read. */
function expectedBytes({ headers }: FastifyRequest, bodyLimit: number): number {
  const said = headers['content-length']
  if (said === undefined) return headers['transfer-encoding'] === undefined ? 0 : bodyLimit
  return Number(said) > bodyLimit ? 0 : Number(said)
}

function busy(): AppError {
  return new AppError('unavailable', 'Too many large requests arrive right now: try again in a moment', {
    headers: { 'retry-after': '5' },
  })
}
