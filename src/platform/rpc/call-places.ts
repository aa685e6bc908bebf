/**
 * How many calls are open on the gRPC port. Where it is full, the call that has waited longest for its one message gives
 * way: public methods, such as those of health, need no credentials, and whoever opens calls and sends nothing must not
 * keep everybody else out until those time out. Nor must whoever asks and never reads the answers: where it is full, their connection ends.
 */
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2'
import type { Clock } from '../clock/clock.ts'

// Enough for a message on a bad connection. Whoever was so quick is not the one that holds places for nothing.
const ARRIVAL_MS = 1_000
// Between two looks at the answers that wait to be read.
const LOOK_MS = 1_000

export class CallPlaces {
  readonly #most: number
  readonly #clock: Clock
  #taken = 0
  /** In the order in which they began. Those whose message has come meanwhile are dropped when room is looked for. */
  readonly #waiting = new Map<Http2ServerRequest, number>()
  /** All of them, with what was left to be read of the answer at the last look. */
  readonly #open = new Map<ServerHttp2Stream, number>()
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(most: number, clock: Clock) {
    this.#most = most
    this.#clock = clock
  }

  /** Whether there is a place for this call. It is counted until its stream is closed, either way. */
  take(request: Http2ServerRequest): boolean {
    const { stream } = request
    this.#taken++
    this.#open.set(stream, 0)
    stream.once('close', () => {
      this.#taken--
      this.#open.delete(stream)
      this.#waiting.delete(request)
    })
    return this.#taken <= this.#most || this.#makeRoom() || this.#endUnread()
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

  /** Whether there were any: whole answers of which nothing was taken since the last look. */
  #endUnread(): boolean {
    const now = this.#clock.elapsedMs()
    if (now - this.#lookedMs < LOOK_MS) return false
    this.#lookedMs = now
    let isOne = false
    for (const [stream, before] of this.#open) {
      const left = stream.writableEnded ? stream.writableLength : 0
      this.#open.set(stream, left)
      if (left === 0 || left !== before) continue
      isOne = true
      // Not the stream alone: Node keeps what nobody takes of it.
      stream.session?.destroy()
    }
    return isOne
  }
}
