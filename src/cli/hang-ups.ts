import { isatty } from 'node:tty'

const STDIN = 0

/**
 * SIGHUP has two meanings: an operator who changed the settings file, and a terminal that was closed. After the second the
 * input is no terminal any more.
 */
export class HangUps {
  /** Settles when the terminal that the server was started from is gone. */
  readonly terminalGone: Promise<'SIGHUP'>
  #reload: (() => Promise<void>) | undefined
  #isAsked = false
  #reloading = Promise.resolve()

  constructor() {
    const hasTerminal = isatty(STDIN)
    this.terminalGone = new Promise((resolve) => {
      process.on('SIGHUP', () => {
        if (hasTerminal && !isatty(STDIN)) resolve('SIGHUP')
        else this.#ask()
      })
    })
  }

  /** One after the other. What is asked for during the start is done after it: the start may have read the file before. */
  onReload(reload: () => Promise<void>): void {
    this.#reload = reload
    if (this.#isAsked) this.#ask()
  }

  #ask(): void {
    const reload = this.#reload
    if (reload === undefined) this.#isAsked = true
    else this.#reloading = this.#reloading.then(reload)
  }
}
