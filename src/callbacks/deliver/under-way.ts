import type { Logger } from '../../platform/logging/logger.ts'

/** Work that nobody waits for, until the end. */
export class UnderWay {
  readonly #log: Logger
  #count = 0
  #onIdle: (() => void) | null = null

  constructor(log: Logger) {
    this.#log = log
  }

  /** NOTE A failure here is storage that is away: what is due is found again, at the latest at the next start. */
  track(work: Promise<void>): void {
    this.#count++
    work.then(this.#onEnd, (error: unknown) => {
      this.#log.error({ err: error }, 'a callback has to wait')
      this.#onEnd()
    })
  }

  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve
      if (this.#count === 0) resolve()
    })
  }

  readonly #onEnd = (): void => {
    if (--this.#count === 0) this.#onIdle?.()
  }
}
