import type { DestinationStream } from 'pino'
import type { Clock } from '../clock/clock.ts'

const FLUSH_BYTES = 32 * 1024
const FLUSH_MS = 50

/**
 * Gathers lines and hands them on in one piece: a write per line costs a busy server a quarter of its requests.
 * A crash may lose the last 50 ms of lines written here, so it is for the access log and nothing else.
 */
export class LineBuffer {
  readonly #output: DestinationStream
  readonly #clock: Clock
  readonly #flush = () => this.flush()
  #waiting = ''
  #cancel: (() => void) | null = null

  constructor(output: DestinationStream, clock: Clock) {
    this.#output = output
    this.#clock = clock
  }

  /** `line` ends with a line break. */
  write(line: string): void {
    this.#waiting += line
    if (this.#waiting.length >= FLUSH_BYTES) this.flush()
    else this.#cancel ??= this.#clock.after(FLUSH_MS, this.#flush)
  }

  flush(): void {
    this.#cancel?.()
    this.#cancel = null
    if (this.#waiting === '') return
    const lines = this.#waiting
    this.#waiting = ''
    this.#output.write(lines)
  }
}
