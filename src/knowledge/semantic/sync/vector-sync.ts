/**
 * Keeps the vectors of notes in step with their texts, in the background.
 *
 * Nothing is written for it when a note changes: the feed of changes says which notes are behind the place up to which a project was
 * embedded. A note that changes again before its turn is there once. The place moves on in the transaction that writes the
 * vectors, so nothing is lost by a crash. A process takes a project for a while, and for longer as long as it works on it; what it had
 * not finished is taken over when that is over, or at once by the server of a SQLite file, which was its only one. Long notes are written
 * in several steps: who loses the project between two of them writes no more, and who takes it over finds what was written so far and
 * keeps what it can use of it.
 *
 * The feed forgets deletions after a while. What was deleted and forgotten while nothing was embedded is looked for once, after each
 * start.
 *
 * Another model begins at the first change, beside the vectors that are there; those go when it has come to the end.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Bell } from '../../../platform/clock/bell.ts'
import { type Clock, MICROS_PER_MS, sleep } from '../../../platform/clock/clock.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { newId } from '../../../platform/ids/uuid.ts'
import { type Backoff, retryDelayMs } from '../../../platform/jobs/backoff.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { Database, Transaction } from '../../../platform/storage/database.ts'
import { OtherProcesses } from '../../../platform/storage/other-processes.ts'
import { type Worker, WorkerStop } from '../../../platform/supervisor/supervisor.ts'
import { storableText } from '../../../platform/text/storable-text.ts'
import { CHANGES_TOPIC, lastChange } from '../../history/store-changes.ts'
import type { Project } from '../../note/note.ts'
import type { Embeddings } from '../embeddings.ts'
import { ofProvider, ProviderFailed } from '../provider-failed.ts'
import type { EmbedThread } from '../thread/embed-thread.ts'
import { Busyness } from './busyness.ts'
import { type EmbeddingStatus, embeddingStatus } from './embedding-status.ts'
import { OwnProjects } from './own-projects.ts'
import { LEASE_MS, leaseEnd, whileLeased } from './project-lease.ts'
import { lostNotes, projectsToLookThrough } from './store-lost-notes.ts'
import {
  claimProject,
  completeProject,
  failProject,
  forgetDelays,
  nextDue,
  releaseProject,
  replacedModels,
  restartProject,
  type SyncKey,
  type SyncState,
  syncState,
  waitingProjects,
} from './store-sync.ts'
import { projectsWithVectors, removeModelRows } from './store-vectors.ts'
import { syncTurn, type Turn } from './sync-turn.ts'
import { SyncWaiters } from './sync-waiters.ts'

export interface VectorSync extends Worker {
  /** Settles when all that was written before the call is embedded, or the project is gone; rejects when the provider fails meanwhile. */
  caughtUp(projectId?: number): Promise<void>
  status(project: Pick<Project, 'id'>): Promise<EmbeddingStatus>
  /** Embeds all notes anew, of one project or of all; what is there answers meanwhile. Resolves when that is asked for. */
  reindex(project: Pick<Project, 'id'> | null): Promise<void>
}

export interface VectorSyncOptions {
  db: Database
  clock: Clock
  log: Logger
  embeddings: Embeddings
  thread: EmbedThread
  settings: { index_delay_ms: number }
  /** False: a command, which may run beside a server. */
  isServer: boolean
  /** How long to leave the machine to others after a turn of so many milliseconds. */
  restMs?(turnMs: number): number
}

const REINDEX_TOPIC = 'knowledge.reindex-vectors'
// PostgreSQL tells nobody of changes, and nobody who ends that a project is free.
const LOOK_EVERY_MS = 1_000
const ROWS = 500
const LONGEST_DRAIN_MS = 5_000
const LONGEST_ERROR = 500
const BACKOFF: Backoff = { initialMs: 1_000, maxMs: 300_000, coefficient: 2, jitter: 0.2 }
// One SQLite file has one server, which takes over what it had before it was started again. Commands beside it are others.
const ONLY_SERVER = 'server'

type Outcome = 'more' | 'done' | 'failed'

export class NoteVectorSync implements VectorSync {
  readonly name = 'vector sync'
  readonly #options: VectorSyncOptions
  readonly #owner: string
  readonly #bell: Bell
  readonly #restMs: (turnMs: number) => number
  readonly #waiters: SyncWaiters
  /** What this process has taken over, and until when. */
  readonly #claims = new Map<number, { state: SyncState; untilMs: number }>()
  readonly #settling: { round: number; resolve(): void; reject(reason: unknown): void }[] = []
  readonly #own: OwnProjects
  /** Projects with notes to embed, in the order of their turns. */
  readonly #waiting = new Set<number>()
  /** Projects with vectors of notes that are gone. */
  readonly #lossy = new Set<number>()
  #isLookedThrough = false
  #rounds = 0
  #openings = 0
  #isStopped = false

  constructor(options: VectorSyncOptions) {
    this.#options = options
    this.#owner = options.db.engine === 'sqlite' && options.isServer ? ONLY_SERVER : newId()
    this.#bell = new Bell(options.clock)
    this.#own = new OwnProjects(options)
    this.#waiters = new SyncWaiters(options.db)
    const busyness = new Busyness()
    this.#restMs = options.restMs ?? ((turnMs) => busyness.restMs(turnMs))
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, clock, settings } = this.#options
    const stops = [
      db.subscribe(CHANGES_TOPIC, () => this.#bell.ringIn(settings.index_delay_ms)),
      db.subscribe(REINDEX_TOPIC, () => this.#bell.ring()),
    ]
    const hurry = new AbortController()
    const onAbort = () => {
      this.#options.embeddings.stopOpening()
      const graceMs = signal.reason instanceof WorkerStop ? signal.reason.graceMs / 2 : LONGEST_DRAIN_MS
      stops.push(clock.after(Math.min(graceMs, LONGEST_DRAIN_MS), () => hurry.abort(signal.reason)))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    stops.push(() => signal.removeEventListener('abort', onAbort))
    const others = new OtherProcesses(db, clock)
    this.#bell.ring()
    let reason: unknown = stopped()
    try {
      while (!signal.aborted) {
        const unwatch = others.watch(() => this.#bell.ring())
        await this.#bell.rings(signal)
        unwatch()
        if (signal.aborted) break
        const round = ++this.#rounds
        await this.#round(signal, hurry.signal)
        if (this.#waiting.size > 0) {
          this.#bell.ring()
          continue
        }
        while (this.#settling[0] !== undefined && this.#settling[0].round <= round) this.#settling.shift()?.resolve()
      }
    } catch (error) {
      reason = error
      throw error
    } finally {
      for (const stop of stops) stop()
      this.#bell.stop()
      // After a failure it is started again.
      this.#isStopped = signal.aborted
      this.#waiters.reject(reason)
      for (const { reject } of this.#settling.splice(0)) reject(reason)
      await this.#release()
    }
  }

  async caughtUp(projectId?: number): Promise<void> {
    const { db } = this.#options
    const ids = projectId === undefined ? await waitingProjects(db, await this.#modelId(), this.#now()) : [projectId]
    const targets = new Map<number, number>()
    for (const id of ids) targets.set(id, await lastChange(db, id))
    // Only now: whoever begins to wait after the end waits for ever.
    if (this.#isStopped) throw stopped()
    const reached = this.#waiters.wait(targets)
    this.#bell.ring()
    return reached
  }

  /** Settles when nothing is left that could be done now; also what failed was tried. */
  settled(): Promise<void> {
    if (this.#isStopped) return Promise.reject(stopped())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#settling.push({ round: this.#rounds + 1, resolve, reject })
    this.#bell.ring()
    return promise
  }

  status({ id }: Pick<Project, 'id'>): Promise<EmbeddingStatus> {
    return embeddingStatus(this.#options, id)
  }

  async reindex(project: Pick<Project, 'id'> | null): Promise<void> {
    const { db } = this.#options
    const ids = project === null ? await projectsWithVectors(db) : [project.id]
    for (const id of ids) {
      await db.write(async (tx) => {
        await restartProject(tx, id, await lastChange(tx, id))
        tx.signal(REINDEX_TOPIC)
      })
    }
    this.#bell.ring()
  }

  #now(): number {
    return this.#options.clock.now()
  }

  #modelId(): Promise<number> {
    return this.#options.embeddings.modelId()
  }

  /**
   * One project after the other, some notes of each in turn, until none waits, or it is time to look who else does: nobody waits for
   * the end of a large project. Throws nothing but trouble with storage.
   */
  async #round(signal: AbortSignal, hurry: AbortSignal): Promise<void> {
    const { db, clock, settings } = this.#options
    const lookMs = Math.max(LOOK_EVERY_MS, settings.index_delay_ms)
    if (db.engine === 'postgres') this.#bell.ringIn(lookMs)
    const untilMs = clock.elapsedMs() + lookMs
    const modelId = await this.#opened()
    if (modelId === null) return this.#waiting.clear()
    await this.#own.look(modelId)
    // Whoever starts a server may have mended what was wrong with the provider.
    if (!this.#isLookedThrough) await this.#write((tx) => forgetDelays(tx, modelId))
    const startedAt = this.#now()
    for (const projectId of await waitingProjects(db, modelId, startedAt)) this.#waiting.add(projectId)
    for (const projectId of await this.#lossyNow(modelId)) this.#waiting.add(projectId)
    // Those that are put back come again, behind the others.
    for (const projectId of this.#waiting) {
      if (signal.aborted) break
      this.#waiting.delete(projectId)
      const outcome = await this.#turn({ projectId, modelId }, signal, hurry)
      if (outcome === 'more') this.#waiting.add(projectId)
      if (outcome === 'failed') this.#waiting.clear()
      if (clock.elapsedMs() >= untilMs) break
    }
    await this.#waiters.answer(modelId)
    if (this.#waiting.size > 0) return
    if (!this.#isLookedThrough) await this.#lookThrough(modelId, signal)
    // Alarms ring a little early at times: what fell due since the round began was not among those that waited.
    const due = await nextDue(db, modelId, startedAt)
    if (due !== null) this.#bell.ringIn(Math.max(0, (due - this.#now()) / MICROS_PER_MS))
  }

  /** Finds out which projects have vectors of notes that are gone; the next round removes them. */
  async #lookThrough(modelId: number, signal: AbortSignal): Promise<void> {
    const { db } = this.#options
    for (const projectId of await projectsToLookThrough(db, modelId, this.#now())) {
      if (signal.aborted) return
      if ((await lostNotes(db, { projectId, modelId }, 1)).length > 0) this.#lossy.add(projectId)
    }
    this.#isLookedThrough = true
    if (this.#lossy.size > 0) this.#bell.ring()
  }

  async #lossyNow(modelId: number): Promise<number[]> {
    if (this.#lossy.size === 0) return []
    const due = await projectsToLookThrough(this.#options.db, modelId, this.#now())
    return due.filter((id) => this.#lossy.has(id))
  }

  /** Null when the provider does not work; it is tried again later. */
  async #opened(): Promise<number | null> {
    try {
      await this.#options.embeddings.current()
      this.#openings = 0
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#waiters.reject(error)
      this.#bell.ringIn(retryDelayMs(++this.#openings, BACKOFF))
      return null
    }
    return this.#modelId()
  }

  async #turn(key: SyncKey, signal: AbortSignal, hurry: AbortSignal): Promise<Outcome> {
    const { clock } = this.#options
    const leftMs = await this.#own.leftMs(key)
    if (leftMs > 0) {
      this.#bell.ringIn(leftMs)
      return 'done'
    }
    const state = await this.#claim(key)
    if (state === undefined) {
      // It is gone, or another process has it: one that ends does not say so.
      this.#lossy.delete(key.projectId)
      this.#bell.ringIn(LOOK_EVERY_MS)
      return 'done'
    }
    const startedMs = clock.elapsedMs()
    try {
      const { synced, hadWork } = await this.#leasedTurn(key, state, hurry)
      if (!hadWork) {
        this.#lossy.delete(key.projectId)
        return await this.#finish(key, state, signal)
      }
      if (synced === undefined) this.#claims.delete(key.projectId)
      else Object.assign(state, { synced_seq: synced, failures: 0 })
    } catch (error) {
      if (hurry.aborted) return 'failed'
      if (!(error instanceof ProviderFailed)) throw error
      await this.#fail(key, state, error)
      return 'failed'
    }
    await this.#waiters.answer(key.modelId)
    await this.#rest(clock.elapsedMs() - startedMs, signal)
    return 'more'
  }

  /** Its work is given up as soon as another process has the project. */
  #leasedTurn(key: SyncKey, state: SyncState, hurry: AbortSignal): Promise<Turn> {
    const { db, clock, log, thread, embeddings } = this.#options
    const owner = this.#owner
    const hasLost = this.#lossy.has(key.projectId)
    return whileLeased({ db, clock, log, owner }, key, async (lost) => {
      const signal = AbortSignal.any([hurry, lost])
      try {
        const provider = await ofProvider(embeddings.current())
        return await syncTurn({ db, clock, thread, provider, owner, hasLost, signal }, key, state)
      } catch (error) {
        if (lost.aborted) return { synced: undefined, hadWork: true }
        throw error
      }
    })
  }

  async #claim(key: SyncKey): Promise<SyncState | undefined> {
    const { clock } = this.#options
    const known = this.#claims.get(key.projectId)
    if (known !== undefined && clock.elapsedMs() < known.untilMs) return known.state
    const lease = { owner: this.#owner, now: this.#now(), until: leaseEnd(clock) }
    const untilMs = clock.elapsedMs() + LEASE_MS / 2
    const state = await this.#write((tx) => claimProject(tx, key, lease))
    if (state !== undefined) this.#claims.set(key.projectId, { state, untilMs })
    return state
  }

  /**
   * Nothing is left of the project, unless all of it was asked for anew since it was taken over: who did so may have rung before this
   * round began. What a stop leaves of other models is removed after the next start.
   */
  async #finish(key: SyncKey, known: SyncState, signal: AbortSignal): Promise<Outcome> {
    const { db } = this.#options
    this.#claims.delete(key.projectId)
    const now = await syncState(db, key)
    if (now?.synced_seq !== known.synced_seq) return 'more'
    if (this.#own.has(key.projectId)) await this.#releaseOne(key)
    else {
      const isComplete = await this.#write((tx) => completeProject(tx, key, this.#owner, this.#now()))
      if (!isComplete) return 'done'
      this.#own.add(key.projectId)
    }
    for (const modelId of await replacedModels(db, key, this.#now())) {
      const old = { ...key, modelId }
      const remove = (tx: Transaction) => removeModelRows(tx, old, ROWS)
      while (!signal.aborted && (await this.#write(remove)) > 0) await nextTurn()
    }
    return 'done'
  }

  async #fail(key: SyncKey, state: SyncState, error: ProviderFailed): Promise<void> {
    const { log } = this.#options
    const failures = state.failures + 1
    const delayMs = Math.max(retryDelayMs(failures, BACKOFF), Math.min(error.retryAfterMs, BACKOFF.maxMs))
    log.warn({ err: error, projectId: key.projectId, delayMs }, 'notes could not be embedded; they are tried again')
    const failure = {
      failures,
      error: storableText(error.message, LONGEST_ERROR),
      dueAt: this.#now() + delayMs * MICROS_PER_MS,
    }
    await this.#write((tx) => failProject(tx, key, this.#owner, failure))
    this.#claims.delete(key.projectId)
    this.#waiters.reject(error)
  }

  async #rest(turnMs: number, signal: AbortSignal): Promise<void> {
    const restMs = this.#restMs(turnMs)
    if (restMs > 0) await sleep(this.#options.clock, restMs, signal).catch(() => {})
    else await nextTurn()
  }

  /** Others need not wait until the time is over. */
  async #release(): Promise<void> {
    const projectIds = [...this.#claims.keys()]
    this.#claims.clear()
    if (projectIds.length === 0) return
    const modelId = await this.#modelId()
    for (const projectId of projectIds) await this.#releaseOne({ projectId, modelId })
  }

  async #releaseOne(key: SyncKey): Promise<void> {
    await this.#write((tx) => releaseProject(tx, key, this.#owner))
  }

  /** What is safe statement by statement: each says itself which rows it may change, and whose they must be. */
  #write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#options.db.write(work, { isolation: 'read committed' })
  }
}

function stopped(): AppError {
  return new AppError('unavailable', 'Nothing is embedded any more: the server is stopping')
}
