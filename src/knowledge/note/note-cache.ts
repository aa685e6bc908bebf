/**
 * Answers to "get this note", ready to send. On SQLite only, where this process makes nearly every change of a note and knows
 * at once whose answers it touches: the note's own, and those of the notes that link to it or are linked from it. When another
 * process has changed anything (a command, such as `commonplace reindex`), all are forgotten.
 */
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { SqliteDatabase } from '../../platform/storage/sqlite.ts'

export interface CachedNote {
  projectId: number
  externalId: string
  etag: string
  /** The document as JSON, in bytes: a text would be encoded for every answer. */
  body: Buffer
  /** The numbers of the note itself and of every note that the document names. */
  about: readonly number[]
}

interface Entry extends CachedNote {
  expiresAt: number
}

const TOUCHED = 'knowledge.touched'
// What a signal may carry; a change of more notes than this empties the cache.
const MOST_TOUCHED = 400
// Ten thousand notes of 2 KB with their links, which is what most projects stay below; each costs some 9 KB here.
const LARGEST = 96 * 1024 * 1024
const LARGEST_BODY = 256 * 1024
// Whether another process has changed anything costs some microseconds to ask.
const LOOK_EVERY_MS = 1

/** Says in the transaction of a change which notes' answers it changes; all that mention them are forgotten. */
export function touchNotes(tx: Transaction, ids: readonly number[]): void {
  if (tx.engine !== 'sqlite' || ids.length === 0) return
  tx.signal(TOUCHED, ids.length > MOST_TOUCHED ? '' : ids.join(' '))
}

export class NoteCache {
  readonly #db: Database
  readonly #clock: Clock
  readonly #ttlMs: number
  readonly #entries = new Map<string, Entry>()
  /** Which entries mention a note. */
  readonly #mentions = new Map<number, Set<string>>()
  #size = 0
  #changes = 0
  #foreignVersion: number | undefined
  #looksAtMs = Number.NEGATIVE_INFINITY

  constructor({ db, clock, ttlMs }: { db: Database; clock: Clock; ttlMs: number }) {
    this.#db = db
    this.#clock = clock
    this.#ttlMs = db.engine === 'sqlite' ? ttlMs : 0
    if (this.#ttlMs > 0) db.subscribe(TOUCHED, (ids) => this.#forget(ids))
  }

  get(projectId: number, externalId: string): CachedNote | undefined {
    if (this.#ttlMs === 0) return undefined
    const nowMs = this.#clock.elapsedMs()
    this.#heedOthers(nowMs)
    const entry = this.#entries.get(externalId)
    if (entry === undefined || entry.projectId !== projectId) return undefined
    if (entry.expiresAt < nowMs) {
      this.#drop(externalId)
      return undefined
    }
    return entry
  }

  /** To be asked before the note is read, and handed to `put`: what was read during a change is not kept. */
  get changes(): number {
    return this.#changes
  }

  put(note: CachedNote, changesBefore: number): void {
    if (this.#ttlMs === 0 || changesBefore !== this.#changes || note.body.length > LARGEST_BODY) return
    this.#drop(note.externalId)
    this.#entries.set(note.externalId, { ...note, expiresAt: this.#clock.elapsedMs() + this.#ttlMs })
    this.#size += note.body.length
    for (const id of note.about) {
      const mentions = this.#mentions.get(id)
      if (mentions === undefined) this.#mentions.set(id, new Set([note.externalId]))
      else mentions.add(note.externalId)
    }
    while (this.#size > LARGEST) this.#drop(this.#entries.keys().next().value as string)
  }

  /** What is put after this and was read before the next change of another process is forgotten with it. */
  #heedOthers(nowMs: number): void {
    if (nowMs < this.#looksAtMs || !(this.#db instanceof SqliteDatabase)) return
    this.#looksAtMs = nowMs + LOOK_EVERY_MS
    const version = this.#db.foreignVersion()
    if (this.#foreignVersion !== version) this.#forget('')
    this.#foreignVersion = version
  }

  #forget(ids: string): void {
    this.#changes++
    if (ids === '') {
      this.#entries.clear()
      this.#mentions.clear()
      this.#size = 0
      return
    }
    for (const id of ids.split(' ')) {
      for (const externalId of this.#mentions.get(Number(id)) ?? []) this.#drop(externalId)
    }
  }

  #drop(externalId: string): void {
    const entry = this.#entries.get(externalId)
    if (entry === undefined) return
    this.#entries.delete(externalId)
    this.#size -= entry.body.length
    for (const id of entry.about) {
      const mentions = this.#mentions.get(id)
      mentions?.delete(externalId)
      if (mentions?.size === 0) this.#mentions.delete(id)
    }
  }
}
