import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { callerWentAway } from '../../platform/http/answer/gone-signal.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'

export type Chunk = string | Uint8Array

/** Writes an answer piece by piece out of one state of the data. */
export type ChunkWriter = (snapshot: Reader) => AsyncIterable<Chunk>

export interface SnapshotStreamOptions {
  db: Database
  clock: Clock
  write: ChunkWriter
  /** A caller that takes nothing for so long is given up, also sooner where others wait for its place. */
  idleMs: number
  wantedIdleMs: number
  isWanted(): boolean
  /** As is one that is not done after so long: an old state of the data costs everybody. */
  longestMs: number
  /** Called once, when the state of the data is let go. */
  onReleased(): void
}

/** Read ahead of the caller; most answers are smaller, and let their state of the data go before they are sent. */
const READ_AHEAD_BYTES = 1024 * 1024

/** An answer that is never in memory as a whole: it is read no faster than the caller takes it. */
export class SnapshotStream extends Readable {
  readonly #options: SnapshotStreamOptions
  #isStarted = false
  #wake: (() => void) | undefined
  #stop: ((reason: Error) => void) | undefined

  constructor(options: SnapshotStreamOptions) {
    super({ highWaterMark: READ_AHEAD_BYTES })
    this.#options = options
  }

  override _read(): void {
    if (this.#isStarted) this.#wake?.()
    else {
      this.#isStarted = true
      void this.#run()
    }
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#stop?.(callerWentAway())
    if (!this.#isStarted) this.#options.onReleased()
    callback(error)
  }

  async #run(): Promise<void> {
    const { db, clock, write, longestMs, onReleased } = this.#options
    const cancel = clock.after(longestMs, () => this.destroy(tooSlow()))
    try {
      await db.read(async (snapshot) => {
        for await (const chunk of write(snapshot)) {
          if (this.destroyed) throw callerWentAway()
          // Others have a turn between two pieces, also where nothing was found: SQLite reads without giving one.
          if (chunk.length === 0 || this.push(chunk)) await nextTurn()
          else await this.#room()
        }
      })
      this.push(null)
    } catch (error) {
      this.destroy(error as Error)
    } finally {
      cancel()
      onReleased()
    }
  }

  #room(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { clock, idleMs, wantedIdleMs, isWanted } = this.#options
    const idleAtMs = clock.elapsedMs() + idleMs
    const look = () => {
      if (isWanted() || clock.elapsedMs() >= idleAtMs) this.destroy(tooSlow())
      else cancel = clock.after(wantedIdleMs, look)
    }
    let cancel = clock.after(wantedIdleMs, look)
    this.#wake = resolve
    this.#stop = reject
    if (this.destroyed) reject(callerWentAway())
    return promise.finally(() => cancel())
  }
}

function tooSlow(): AppError {
  return new AppError('canceled', 'The caller took the answer too slowly')
}
