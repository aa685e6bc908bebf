import { Readable } from 'node:stream'
import { callerKey, type Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { StreamSlots } from '../../platform/http/answer/stream-slots.ts'

export const MOST_STREAMS = 100
export const MOST_STREAMS_OF_CALLER = 20
// Who is this late with reading is cut off, and goes on behind the last event it got.
const STALLED_MS = 30_000
const READ_AHEAD_BYTES = 16 * 1024

/** The open streams of changes: so many at a time and of one caller, none of them ahead of its reader. */
export class ChangeStreams {
  readonly #clock: Clock
  readonly #slots: StreamSlots
  readonly #ofCaller = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
    // Nobody waits in line: a stream has no end that could be waited for.
    this.#slots = new StreamSlots(clock, { open: MOST_STREAMS, waiting: 0, waitMs: 0 })
  }

  get open(): number {
    return this.#slots.open
  }

  /** Takes a place; the answer gives it back, and is to be called once. */
  async enter(principal: Principal, gone: AbortSignal): Promise<() => void> {
    const caller = callerKey(principal)
    if ((this.#ofCaller.get(caller) ?? 0) >= MOST_STREAMS_OF_CALLER) throw tooMany()
    this.#count(caller, 1)
    try {
      const leave = await this.#slots.enter(gone)
      return () => {
        leave()
        this.#count(caller, -1)
      }
    } catch (error) {
      this.#count(caller, -1)
      throw error
    }
  }

  /** Asks for more only when the caller took what there is, and gives up one that does not. */
  stream(texts: AsyncIterable<string>, onClosed: () => void): Readable {
    const clock = this.#clock
    const stream: Readable = Readable.from(taken(), { objectMode: false, highWaterMark: READ_AHEAD_BYTES })
    stream.once('close', onClosed)
    return stream

    async function* taken(): AsyncGenerator<string> {
      for await (const text of texts) {
        const cancel = clock.after(STALLED_MS, () => stream.destroy(tooSlow()))
        try {
          yield text
        } finally {
          cancel()
        }
      }
    }
  }

  #count(caller: string, change: 1 | -1): void {
    const count = (this.#ofCaller.get(caller) ?? 0) + change
    if (count > 0) this.#ofCaller.set(caller, count)
    else this.#ofCaller.delete(caller)
  }
}

function tooMany(): AppError {
  return new AppError('rate_limited', `You have ${MOST_STREAMS_OF_CALLER} open streams of changes: close one first`, {
    headers: { 'retry-after': '5' },
  })
}

function tooSlow(): AppError {
  return new AppError('canceled', 'The caller took the changes too slowly')
}
