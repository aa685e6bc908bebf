import { closeSync, fdatasync, fsync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const syncData = promisify(fdatasync)
const syncAll = promisify(fsync)

/**
 * The write-ahead log of a SQLite file. With `synchronous = normal` SQLite writes a commit into it without waiting for the disk, and
 * every commit lies behind the ones before it: when the log was synced after a commit, all of them are durable. The waiting is
 * ours, in a thread of the pool; inside SQLite it would stop the event loop.
 */
export class SqliteLog {
  readonly #file: string
  readonly #sync: (descriptor: number) => Promise<void>
  #descriptor: number | undefined

  constructor(file: string, sync: (descriptor: number) => Promise<void> = syncData) {
    this.#file = file
    this.#sync = sync
  }

  /** Ends when everything that was committed before the call is on disk. */
  async sync(): Promise<void> {
    if (this.#descriptor === undefined) {
      this.#descriptor = openSync(`${this.#file}-wal`, 'r+')
      await syncDirectory(dirname(this.#file))
    }
    await this.#sync(this.#descriptor)
  }

  // NOTE SQLite holds no locks on this file: closing a descriptor of one that it locks would drop them.
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
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
