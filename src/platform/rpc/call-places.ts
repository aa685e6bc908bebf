/**
 * How many calls are open on the gRPC port. Where it is full, the call that has waited longest for its one message gives
 * way: public methods, such as those of health, need no credentials, and whoever opens calls and sends nothing must not
 * keep everybody else out until those time out.
 */
import { constants, type Http2ServerRequest } from 'node:http2'
import type { Clock } from '../clock/clock.ts'

// Enough for a message on a bad connection. Whoever was so quick is not the one that holds places for nothing.
const ARRIVAL_MS = 1_000

export class CallPlaces {
  readonly #most: number
  readonly #clock: Clock
  #taken = 0
  /** In the order in which they began. Those whose message has come meanwhile are dropped when room is looked for. */
  readonly #waiting = new Map<Http2ServerRequest, number>()

  constructor(most: number, clock: Clock) {
    this.#most = most
    this.#clock = clock
  }

  /** Whether there is a place for this call. It is counted until its stream is closed, either way. */
  take(request: Http2ServerRequest): boolean {
    this.#taken++
    request.stream.once('close', () => {
      this.#taken--
      this.#waiting.delete(request)
    })
    return this.#taken <= this.#most || this.#makeRoom()
  }

  /** Says that this call, which has a place, can do nothing before its message has arrived. */
  awaitMessage(request: Http2ServerRequest): void {
    this.#waiting.set(request, this.#clock.elapsedMs())
  }

  #makeRoom(): boolean {
    const latest = this.#clock.elapsedMs() - ARRIVAL_MS
    for (const [request, sinceMs] of this.#waiting) {
      if (sinceMs > latest) return false
      this.#waiting.delete(request)
      if (request.complete) continue
      // Clients read it as RESOURCE_EXHAUSTED.
      request.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
      return true
    }
    return false
  }
}
