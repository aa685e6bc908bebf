import type { Logger } from './logger.ts'

/** Trouble that one try after the other meets, told once until it is over: the disk that is full may be that of the log. */
export class OutageLog {
  readonly #log: Logger
  #isTold = false

  constructor(log: Logger) {
    this.#log = log
  }

  tell(facts: object, message: string): void {
    this.#log[this.#isTold ? 'debug' : 'error'](facts, message)
    this.#isTold = true
  }

  /** `message` says so where there was trouble. */
  over(message?: string): void {
    if (!this.#isTold) return
    this.#isTold = false
    if (message !== undefined) this.#log.info(message)
  }
}
