import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino'
import { readableLines } from './readable-lines.ts'
import { redact } from './redact.ts'

export type Logger = PinoLogger

export interface LoggingOptions {
  level: string
  format: 'json' | 'readable'
  /** Where lines go; standard output unless a test wants to read them. */
  destination?: DestinationStream
}

// What may wait for a reader that hangs; lines beyond it are dropped rather than the server.
const MAX_WAITING_BYTES = 16 * 1024 * 1024
// At exit, a tenth of a second each: a reader that takes nothing meanwhile hangs.
const LAST_TRIES = 10

export function createLogger(options: LoggingOptions): Logger {
  const output = options.destination ?? standardOutput()
  return pino(
    {
      level: options.level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redact },
    },
    options.format === 'readable' ? readableLines(output) : output,
  )
}

// Members of a child are written after those of its parent, so a name under a name would stand twice in every line.
const parents = new WeakMap<Logger, { log: Logger; name: string }>()

/** Loggers have names so that an operator can tell the parts apart: `jobs`, and within a part `callbacks.delivery`. */
export function named(log: Logger, name: string): Logger {
  const above = parents.get(log)
  const parent = above?.log ?? log
  const whole = above === undefined ? name : `${above.name}.${name}`
  const child = parent.child({ name: whole })
  parents.set(child, { log: parent, name: whole })
  return child
}

/** Where a logger's lines go, for the one caller that writes so many that it builds them itself. */
export function destinationOf(log: Logger): DestinationStream {
  return (log as unknown as Record<symbol, DestinationStream>)[pino.symbols.streamSym] as DestinationStream
}

function standardOutput(): DestinationStream {
  const waiting = new LastTries()
  const output = pino.destination({
    fd: 1,
    sync: false,
    minLength: 0,
    maxLength: MAX_WAITING_BYTES,
    retryEAGAIN: (_error, writing, behind) => waiting.allow(writing + behind),
  })
  let isRefused = false
  output.on('write', () => {
    isRefused = false
  })
  // `commonplace serve | head` closes the pipe: nobody reads, which is no reason to end.
  output.on('error', () => {
    isRefused = true
  })
  // NOTE At exit what is left is tried until it is written: on a disk that is full, or when whoever reads hangs, the process would not end.
  const flushSync = output.flushSync.bind(output)
  output.flushSync = () => {
    if (!isRefused) waiting.during(flushSync)
  }
  return output
}

/** How often a pipe that takes nothing is tried: for as long as the process runs, and a few times when it ends. */
class LastTries {
  #left = Number.POSITIVE_INFINITY
  #bytes = 0

  allow(bytes: number): boolean {
    if (this.#left < LAST_TRIES && bytes !== this.#bytes) this.#left = LAST_TRIES
    this.#bytes = bytes
    return --this.#left >= 0
  }

  during(flush: () => void): void {
    this.#left = LAST_TRIES
    try {
      flush()
    } catch (error) {
      if (this.#left >= 0) throw error
    } finally {
      this.#left = Number.POSITIVE_INFINITY
    }
  }
}
