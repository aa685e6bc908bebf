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

  /** One after the other; what is asked for before, during the start, has no effect: the start reads the file by itself. */
  onReload(reload: () => Promise<void>): void {
    this.#reload = reload
  }

  #ask(): void {
    const reload = this.#reload
    if (reload !== undefined) this.#reloading = this.#reloading.then(reload)
  }
}
