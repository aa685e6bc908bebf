import type { ServerHttp2Session } from 'node:http2'
import type { Clock } from '../clock/clock.ts'

export interface SessionTimes {
  /** How often a quiet connection is asked whether anybody is still there. */
  keepaliveMs: number
  /** How long the answer may take. */
  keepaliveTimeoutMs: number
  /** A connection without calls is closed after this time; the client opens another when it needs one. */
  idleMs: number
}

/**
 * Finds out that the other side has gone without saying so (a cable, a router that forgot the connection), so that a
 * stream nobody reads is not kept for ever.
 */
export function keepSessionAlive(session: ServerHttp2Session, clock: Clock, times: SessionTimes): void {
  let openStreams = 0
  let idleSinceMs = clock.elapsedMs()
  let cancel = clock.after(times.keepaliveMs, tick)
  session.on('stream', (stream) => {
    openStreams++
    stream.once('close', () => {
      openStreams--
      idleSinceMs = clock.elapsedMs()
    })
  })
  session.once('close', () => cancel())

  function tick(): void {
    if (session.closed || session.destroyed) return
    if (openStreams === 0 && clock.elapsedMs() - idleSinceMs >= times.idleMs) {
      session.close()
      return
    }
    cancel = clock.after(times.keepaliveTimeoutMs, () => session.destroy())
    const isSent = session.ping((error) => {
      cancel()
      if (error === null) cancel = clock.after(times.keepaliveMs, tick)
    })
    if (!isSent) session.destroy()
  }
}
