import pg from 'pg'
import type { Clock } from '../clock/clock.ts'
import { ignoreFailure } from '../errors/ignore-failure.ts'

// Looks count as long as nothing arrives in between. After the first that finds nobody at work the answer may be on its way; a server that
// cannot be asked may just be very busy.
const NOBODY_AT_WORK = 2
const CANNOT_BE_ASKED = 1
const MOST_IN_VAIN = 4

export interface LongAnswersOptions {
  clock: Clock
  /** Between two looks. */
  everyMs: number
  /** Whether the server is at work for this connection. Rejects where it cannot be asked. */
  isAtWork(): Promise<boolean>
  giveUp(): void
}

/**
 * Answers of one connection that may take any time. One that broke without a word never brings them, and whatever waits behind them
 * would wait for as long as the machine believes in the connection, which may be hours. So the server is asked now and then, by
 * another connection, and this one is given up when nobody is at work for it.
 */
export class LongAnswers {
  readonly #options: LongAnswersOptions
  #unanswered = 0
  #answers = 0
  #answersBefore = 0
  #inVain = 0
  #cancel = () => {}
  #hasEnded = false

  constructor(options: LongAnswersOptions) {
    this.#options = options
    this.#lookLater()
  }

  async of<T>(answer: Promise<T>): Promise<T> {
    this.#unanswered++
    try {
      return await answer
    } finally {
      this.#unanswered--
      this.#answers++
    }
  }

  end(): void {
    this.#hasEnded = true
    this.#cancel()
  }

  #lookLater(): void {
    if (!this.#hasEnded) this.#cancel = this.#options.clock.after(this.#options.everyMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { isAtWork, giveUp } = this.#options
    const isQuiet = () => this.#unanswered > 0 && this.#answers === this.#answersBefore
    const found = (isAtWork: boolean) => (isAtWork ? 0 : NOBODY_AT_WORK)
    const inVain = isQuiet() ? await isAtWork().then(found, () => CANNOT_BE_ASKED) : 0
    this.#inVain = inVain > 0 && isQuiet() ? this.#inVain + inVain : 0
    this.#answersBefore = this.#answers
    if (this.#inVain >= MOST_IN_VAIN && !this.#hasEnded) giveUp()
    else this.#lookLater()
  }
}

/** Whether the process of the server does something. */
export async function isBackendAtWork(connection: pg.ClientConfig, pid: number): Promise<boolean> {
  const client = new pg.Client(connection)
  client.on('error', () => {}) // told by its query, too
  try {
    await client.connect()
    const { rows } = await client.query('select state from pg_stat_activity where pid = $1', [pid])
    // A server that is told not to keep track of states has none.
    return rows.length > 0 && !String(rows[0].state).startsWith('idle')
  } finally {
    ignoreFailure(client.end(), 'what was asked is answered, or cannot be')
  }
}
