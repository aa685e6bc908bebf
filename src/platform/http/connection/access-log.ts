import { type Clock, MICROS_PER_MS } from '../../clock/clock.ts'
import { LineBuffer } from '../../logging/line-buffer.ts'
import { destinationOf, type Logger } from '../../logging/logger.ts'
import type { HttpResponse, RequestRecorder } from './response.ts'

export interface AccessLogOptions {
  log: Logger
  clock: Clock
  isOn: boolean
}

// Clocks are set, and machines sleep.
const EPOCH_MS = 1_000

/**
 * One line per request and one observation for the metrics. The line is put together by hand, because every part of
 * it is known to need no escaping: ids have a checked alphabet, patterns were escaped when the route was made, and
 * neither a path nor a query string is ever written.
 */
export class AccessLog implements RequestRecorder {
  readonly #clock: Clock
  readonly #lines: LineBuffer | null
  /** When the clock's elapsed time began, looked at once a second: one look at the clock per request is enough. */
  #epochMs = 0
  #epochUntilMs = Number.NEGATIVE_INFINITY
  #isClosing = false
  #stampMs = 0
  #stamp = ''

  constructor({ log, clock, isOn }: AccessLogOptions) {
    this.#clock = clock
    this.#lines = isOn && log.isLevelEnabled('info') ? new LineBuffer(destinationOf(log), clock) : null
  }

  now(): number {
    return this.#clock.elapsedMs()
  }

  isClosing(): boolean {
    return this.#isClosing
  }

  close(): void {
    this.#isClosing = true
  }

  flush(): void {
    this.#lines?.flush()
  }

  record(response: HttpResponse, status: number, startedMs: number): void {
    const endedMs = this.#clock.elapsedMs()
    const { label } = response
    label?.observe(status, endedMs - startedMs)
    if (this.#lines === null) return
    const pattern = label === null ? '(none)' : label.pattern
    const principal = response.principalId === null ? '' : `,"principal":"${response.principalId}"`
    // Whole microseconds: a fraction would cost more to write than the rest of the line.
    const micros = Math.round((endedMs - startedMs) * MICROS_PER_MS)
    this.#lines.write(
      `{"level":"info","time":"${this.#time(endedMs)}","name":"http","request":"${response.requestId}","method":"${response.req.method}","route":"${pattern}","status":${status},"micros":${micros}${principal},"msg":"request"}\n`,
    )
  }

  #time(elapsedMs: number): string {
    if (elapsedMs >= this.#epochUntilMs) {
      this.#epochMs = this.#clock.now() / MICROS_PER_MS - this.#clock.elapsedMs()
      this.#epochUntilMs = elapsedMs + EPOCH_MS
    }
    const ms = Math.floor(elapsedMs + this.#epochMs)
    if (ms !== this.#stampMs) {
      this.#stampMs = ms
      this.#stamp = new Date(ms).toISOString()
    }
    return this.#stamp
  }
}
