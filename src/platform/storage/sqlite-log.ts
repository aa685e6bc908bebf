import { closeSync, fdatasync, fdatasyncSync, fstatSync, fsync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Clock } from '../clock/clock.ts'

const syncInPool = promisify(fdatasync)
const syncAll = promisify(fsync)

// To let another thread wait, and to hear from it, costs some tenths of a millisecond of others' time.
const QUICK_MS = 0.3
// What one sync took counts so much for what the next is expected to take: one that is late makes no slow disk.
const SHARE = 0.25
// So often a disk that was slow is asked whether it still is, unless it was so slow that everybody would notice.
const ASK_EVERY = 32
const TOO_SLOW_TO_ASK_MS = 50

/**
 * The write-ahead log of a SQLite file. With `synchronous = normal` SQLite writes a commit into it without waiting for the disk, and
 * every commit lies behind the ones before it: when the log was synced after a commit, all of them are durable. The waiting is
 * ours: in a thread of the pool, since inside SQLite it would stop the event loop; or here, when the disk is so quick that it does
 * not matter.
 */
export class SqliteLog {
  readonly #file: string
  readonly #clock: Clock
  readonly #sync: ((descriptor: number) => Promise<void>) | undefined
  #descriptor: number | undefined
  /** Some file systems count no names. */
  #hasName = false
  #expectedMs = 0
  #sinceAsked = 0
  /** What the last sync in the pool took. */
  #pooledMs = 0

  /** `sync`: for tests of a disk that is slow, or fails. */
  constructor(file: string, clock: Clock, sync?: (descriptor: number) => Promise<void>) {
    this.#file = file
    this.#clock = clock
    this.#sync = sync
  }

  /** Makes everything that was committed before the call durable; a promise when that takes a while. */
  sync(): Promise<void> | undefined {
    if (this.#descriptor === undefined) return this.#openAndSync()
    // What has no name any more ends with this process, however well it is synced.
    if (this.#hasName && !hasName(this.#descriptor)) throw removed(`${this.#file}-wal`)
    if (this.#isAlone()) throw removed(this.#file)
    if (this.#sync !== undefined) return this.#sync(this.#descriptor)
    const isSlow = this.#expectedMs >= QUICK_MS
    const began = this.#clock.elapsedMs()
    if (isSlow && (++this.#sinceAsked < ASK_EVERY || this.#pooledMs > TOO_SLOW_TO_ASK_MS)) {
      return syncInPool(this.#descriptor).finally(() => {
        this.#pooledMs = this.#clock.elapsedMs() - began
      })
    }
    this.#sinceAsked = 0
    fdatasyncSync(this.#descriptor)
    const tookMs = this.#clock.elapsedMs() - began
    this.#expectedMs = isSlow ? tookMs : this.#expectedMs + SHARE * (tookMs - this.#expectedMs)
    return undefined
  }

  // NOTE SQLite holds no locks on this file: closing a descriptor of one that it locks would drop them.
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  /**
   * Whether the database is gone from beside its log, which leads nowhere without it. Where both are, somebody has given their
   * directory another name. NOTE By path, for the reason above.
   */
  #isAlone(): boolean {
    return isMissing(this.#file) && !isMissing(`${this.#file}-wal`)
  }

  async #openAndSync(): Promise<void> {
    this.#descriptor = openSync(`${this.#file}-wal`, 'r+')
    this.#hasName = hasName(this.#descriptor)
    await syncDirectory(dirname(this.#file))
    await (this.#sync ?? syncInPool)(this.#descriptor)
  }
}

function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined
  } catch {
    // Whether it is there is more than anybody can say now.
    return false
  }
}

function removed(file: string): Error {
  return new Error(`${file} was removed while it is in use: stop the server, then look what is left`)
}

function hasName(descriptor: number): boolean {
  return fstatSync(descriptor).nlink > 0
}

/** The log may be new: its name has to be on disk as well. */
async function syncDirectory(directory: string): Promise<void> {
  // Windows knows no such thing, and keeps names without it.
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    await syncAll(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
