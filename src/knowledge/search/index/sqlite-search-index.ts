/**
 * SQLite's index of words: a file of its own, which a thread of its own writes, so that a change of a note pays for one short row
 * in a queue and the server's event loop never waits for the index.
 *
 * Nothing is lost: a change stays in the queue until the index has it and would still have it after a crash of the machine. And
 * nobody is told less than the truth: who searches first waits until the thread has come to the last change of the project before.
 * While the file cannot be written, as on a full disk, nobody waits: searches are answered with what the index has, and say so.
 */
import { dirname, join } from 'node:path'
import type { Worker as Thread } from 'node:worker_threads'
import { type Clock, settlesWithin, sleep } from '../../../platform/clock/clock.ts'
import { ignoreFailure } from '../../../platform/errors/ignore-failure.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import { SEARCH_FILE } from '../../../platform/storage/open.ts'
import { OtherProcesses } from '../../../platform/storage/other-processes.ts'
import type { SideFile, SqliteDatabase } from '../../../platform/storage/sqlite.ts'
import type { Project } from '../../note/note.ts'
import { DeadlyNotes, type TriedNote } from './deadly-notes.ts'
import { type FromIndexThread, startIndexThread, type ToIndexThread } from './index-thread.ts'
import { behind, beingMade, IndexTrouble, stillDamaged } from './index-trouble.ts'
import { IndexWaiters } from './index-waiters.ts'
import type { CaughtUp, SearchIndex } from './search-index.ts'
import { INDEX_TABLES, placeIndexFile } from './store-index-file.ts'
import { lastQueued, lastQueuedOf, NOTE_QUEUED, readQueueState, removeQueued } from './store-search-queue.ts'

export interface SqliteSearchIndexOptions {
  db: SqliteDatabase
  clock: Clock
  log: Logger
  /** For tests that end it. */
  startThread?: typeof startIndexThread
}

const PATIENCE_MS = 10_000
// Changes that come one after the other go into one commit of the index, unless somebody waits for them.
const GATHER_MS = 200
const SETTLE_AFTER_MS = 1_000
const SETTLE_AFTER_CHANGES = 5_000
// Joining parts of the index is for quiet moments: a change makes another part.
const JOIN_AFTER_MS = 1_000
// A thread takes memory; the next one is there in some ten milliseconds.
const IDLE_MS = 10_000
const STOP_MS = 2_000
// A file that cannot be written is tried again so often.
const RETRY_MS = 3_000
// Of more changes than these it is not looked up whose they are.
const MOST_LOOKED_AT = 100_000

export class SqliteSearchIndex implements SearchIndex {
  readonly name = 'search index'
  readonly #options: Required<SqliteSearchIndexOptions>
  readonly #file: string
  readonly #waiters = new IndexWaiters()
  #done = -1
  #isWhole = false
  #settled = 0
  #removal: Promise<void> = Promise.resolve()

  #thread: Thread | undefined
  #isBusy = false
  #isWanted = false
  #whenWanted: (() => void) | undefined
  #cancelGathering: (() => void) | undefined
  #cancelSettling: (() => void) | undefined
  #isJoined = false
  #cancelJoining: (() => void) | undefined
  #cancelIdling: (() => void) | undefined

  #isStopped = false
  #isPlaced = false
  #isDamaged = false
  readonly #trouble: IndexTrouble
  readonly #side: SideFile = { name: 'search', tables: INDEX_TABLES, onDamage: (error) => this.#noticeDamage(error) }
  /** What the thread was reading when it died. */
  #trying: TriedNote | undefined
  #isCareful = false
  readonly #deadly = new DeadlyNotes()

  constructor(options: SqliteSearchIndexOptions) {
    this.#options = { startThread: startIndexThread, ...options }
    this.#trouble = new IndexTrouble(options)
    this.#file = join(dirname(options.db.file), SEARCH_FILE)
  }

  async caughtUp(project?: Pick<Project, 'id'>): Promise<void> {
    if ((await this.catchUp(project)) === 'behind') throw this.#trouble.reason ?? behind()
  }

  async catchUp(project?: Pick<Project, 'id'>): Promise<CaughtUp> {
    const seq = await this.#lastChange(project)
    if (this.#has(seq)) return 'current'
    try {
      await this.#reach(seq)
      return 'current'
    } catch (error) {
      if (error === this.#trouble.reason && this.#isWhole) return 'behind'
      throw error
    }
  }

  async isCurrent(project: Pick<Project, 'id'>): Promise<boolean> {
    return this.#has(await this.#lastChange(project))
  }

  async #reach(seq: number): Promise<void> {
    if (this.#isStopped) throw behind()
    if (this.#trouble.reason !== undefined) throw this.#trouble.reason
    const waiter = this.#waiters.add(seq)
    if (this.#isPlaced) this.#want(true)
    try {
      if (!(await settlesWithin(this.#options.clock, PATIENCE_MS, waiter.promise))) throw behind()
    } finally {
      this.#waiters.delete(waiter)
    }
  }

  /** A long note of another project may take seconds, for which nobody here has to wait. */
  async #lastChange(project: Pick<Project, 'id'> | undefined): Promise<number> {
    const { db } = this.#options
    const last = await lastQueued(db)
    const isSoonKnown = this.#isWhole && last - this.#done <= MOST_LOOKED_AT
    if (project === undefined || this.#has(last) || !isSoonKnown) return last
    return lastQueuedOf(db, project.id, this.#done, last)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, clock } = this.#options
    const unsubscribe = db.subscribe(NOTE_QUEUED, () => this.#want(false))
    const unwatch = new OtherProcesses(db, clock).watch(() => this.#lookAtQueue())
    const wake = () => this.#whenWanted?.()
    signal.addEventListener('abort', wake)
    this.#isPlaced = false
    try {
      while (!signal.aborted) {
        try {
          // What cannot be written can still be read, and stays where it is.
          if (!this.#isPlaced || this.#isDamaged) await this.#place()
          await this.#work(signal)
        } catch (error) {
          await this.#sitOut(error, signal)
        }
      }
    } finally {
      unsubscribe()
      unwatch()
      signal.removeEventListener('abort', wake)
      this.#cancelGathering?.()
      this.#cancelGathering = undefined
      await this.#removal
      if (signal.aborted) this.#giveUp()
    }
  }

  /** Until the end, or until the index has to be made anew. */
  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#isDamaged) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#whenWanted = resolve
      if (this.#isWanted && this.#cancelGathering === undefined) resolve()
      await promise
      this.#whenWanted = undefined
      if (!signal.aborted && !this.#isDamaged) await this.#runThread(signal)
    }
  }

  /** A file that cannot be written is no fault of a note's, and nobody waits for it. */
  async #sitOut(error: unknown, signal: AbortSignal): Promise<void> {
    const reason = this.#trouble.meet(error)
    if (reason === undefined) throw error
    this.#isCareful = false
    this.#waiters.reject(reason)
    await sleep(this.#options.clock, RETRY_MS, signal).catch(() => {})
  }

  /** A search found it. The thread may never do so: it need not read where that search did. */
  #noticeDamage(error: unknown): unknown {
    if (!this.#isPlaced || this.#isDamaged) return this.#trouble.reason ?? beingMade(error)
    if (!this.#trouble.isWorthAnother(error)) return stillDamaged(error)
    this.#isDamaged = true
    this.#isWhole = false
    this.#whenWanted?.()
    void this.#thread?.terminate()
    return beingMade(error)
  }

  /** What another process queued is indexed before somebody searches, who would have to wait for all of it. */
  #lookAtQueue(): void {
    const looking = lastQueued(this.#options.db).then((seq) => {
      if (this.#isPlaced && !this.#has(seq)) this.#want(false)
    })
    ignoreFailure(looking, 'a search looks at the queue, too')
  }

  #giveUp(): void {
    this.#isStopped = true
    this.#waiters.reject(behind())
  }

  #has(seq: number): boolean {
    return this.#isWhole && this.#done >= seq
  }

  /** Finds the file or makes a new one, and lets readers see it. */
  async #place(): Promise<void> {
    const { db, log } = this.#options
    const queue = await readQueueState(db)
    // It may be another file afterwards.
    this.#isPlaced = false
    db.attach(this.#side, null)
    const { done, isWhole, isNew } = placeIndexFile(this.#file, queue, this.#isDamaged)
    if (isNew && !isWhole)
      log.info('the search index is missing, of another version or not of this database: it is made anew')
    this.#isDamaged = false
    this.#done = done
    this.#isWhole = isWhole
    this.#settled = queue.removed
    db.attach(this.#side, this.#file)
    this.#isPlaced = true
    this.#answerWaiters()
    if (!this.#has(queue.last) || done > queue.removed || this.#waiters.size > 0) this.#want(true)
  }

  #answerWaiters(): void {
    this.#waiters.answer((seq) => this.#has(seq))
  }

  /** There are changes that the index does not have. */
  #want(isUrgent: boolean): void {
    this.#isWanted = true
    if (isUrgent) this.#wake()
    else this.#cancelGathering ??= this.#options.clock.after(GATHER_MS, () => this.#wake())
  }

  #wake(): void {
    this.#cancelGathering?.()
    this.#cancelGathering = undefined
    if (this.#thread === undefined) this.#whenWanted?.()
    else if (!this.#isBusy) {
      this.#isBusy = true
      this.#isWanted = false
      this.#cancelJoining?.()
      this.#cancelIdling?.()
      this.#tell('index')
    }
  }

  /** From here on it is asked for nothing; it ends by itself. */
  #stopThread(): void {
    this.#tell('stop')
    this.#thread = undefined
  }

  #tell(message: ToIndexThread): void {
    this.#thread?.postMessage(message)
  }

  /** One thread, from its start until it has had nothing to do for a while. Throws when it dies. */
  async #runThread(signal: AbortSignal): Promise<void> {
    const { db, clock, startThread } = this.#options
    const { skip } = this.#deadly
    const thread = startThread({ databaseFile: db.file, indexFile: this.#file, skip, isCareful: this.#isCareful })
    const ended = new Promise<number>((resolve) => thread.once('exit', resolve))
    let failure: NodeJS.ErrnoException | undefined
    thread.once('error', (error: Error) => {
      failure = error
    })
    thread.on('message', (message: FromIndexThread) => this.#hear(message))
    let cancelKill = () => {}
    const stop = () => {
      this.#stopThread()
      cancelKill = clock.after(STOP_MS, () => void thread.terminate())
    }
    signal.addEventListener('abort', stop)
    this.#thread = thread
    this.#trying = undefined
    this.#wake()
    try {
      // NOTE Not the error: what it said last is heard before it has ended, but maybe not before the error.
      const status = await ended
      this.#isCareful = status !== 0
      // Whoever was told to end and had to be ended did not fail; what it had not written is still in the queue.
      if (status === 0 || signal.aborted) return
      // Ended from here, since a search found the file damaged.
      if (this.#isDamaged && failure === undefined) return
      this.#isWanted = true
      // What is thrown there is trouble with a file, of which no note is guilty.
      if (failure === undefined || failure.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#countDeath()
      throw failure ?? new Error(`The thread of the search index ended with status ${status}`)
    } finally {
      signal.removeEventListener('abort', stop)
      cancelKill()
      this.#cancelSettling?.()
      this.#cancelJoining?.()
      this.#cancelIdling?.()
      this.#cancelSettling = this.#cancelIdling = undefined
      this.#isBusy = false
      this.#thread = undefined
    }
  }

  #countDeath(): void {
    const tried = this.#trying
    if (tried === undefined || !this.#deadly.add(tried)) return
    this.#logSkipped(tried.noteId, 'its text ended the thread several times')
  }

  #hear(message: FromIndexThread): void {
    switch (message.type) {
      case 'progress':
        this.#trying = undefined
        this.#advance(message.done, message.isWhole)
        break
      case 'idle':
        this.#idle()
        break
      case 'settled':
        this.#trouble.end()
        this.#remove(message.done)
        break
      case 'joined':
        this.#isJoined = true
        if (!this.#isBusy) this.#endWhenIdle()
        break
      case 'trying':
        this.#trying = message
        break
      case 'skipped':
        this.#logSkipped(message.noteId, message.reason)
        break
      case 'damaged':
        this.#isDamaged = true
        this.#isWhole = false
        this.#options.log.warn({ reason: message.reason }, 'the search index is damaged: it is made anew')
    }
  }

  #advance(done: number, isWhole: boolean): void {
    this.#trouble.ease()
    if (isWhole && !this.#isWhole) this.#options.log.info('the search index has all notes')
    this.#done = done
    this.#isWhole = isWhole
    this.#isJoined = false
    this.#answerWaiters()
    if (done - this.#settled >= SETTLE_AFTER_CHANGES) this.#settle()
  }

  #idle(): void {
    const { clock } = this.#options
    this.#isBusy = false
    const isWaitedFor = this.#waiters.size > 0
    if (isWaitedFor || this.#isWanted) this.#want(isWaitedFor)
    if (this.#done > this.#settled) this.#cancelSettling ??= clock.after(SETTLE_AFTER_MS, () => this.#settle())
    else this.#trouble.end()
    this.#cancelJoining?.()
    if (!this.#isJoined) this.#cancelJoining = clock.after(JOIN_AFTER_MS, () => this.#join())
    this.#endWhenIdle()
  }

  #join(): void {
    if (this.#isBusy) return
    this.#cancelIdling?.()
    this.#tell('join')
  }

  #endWhenIdle(): void {
    this.#cancelIdling?.()
    this.#cancelIdling = this.#options.clock.after(IDLE_MS, () => {
      if (!this.#isBusy) this.#stopThread()
    })
  }

  #settle(): void {
    this.#cancelSettling?.()
    this.#cancelSettling = undefined
    // Asked for once, until the next so many.
    this.#settled = this.#done
    this.#tell('settle')
  }

  #remove(through: number): void {
    const { db, log } = this.#options
    this.#removal = this.#removal
      .then(() => db.write((tx) => removeQueued(tx, through)))
      // They are removed with the next ones.
      .catch((error: unknown) => log.debug({ err: error }, 'what the search index has was not taken off its queue'))
  }

  #logSkipped(noteId: number, reason: string): void {
    this.#options.log.error({ noteId, reason }, 'a note cannot be indexed: searches do not find it')
  }
}
