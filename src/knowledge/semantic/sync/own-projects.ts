import { type Clock, MICROS_PER_MS, type Micros } from '../../../platform/clock/clock.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { Reader } from '../../../platform/storage/database.ts'
import type { Embeddings } from '../embeddings.ts'
import { isReplaced, ownProjects, type SyncKey } from './store-sync.ts'

export interface OwnProjectsOptions {
  db: Reader
  clock: Clock
  log: Logger
  embeddings: Pick<Embeddings, 'setReplaced'>
}

// Long enough for the servers of an installation to be restarted one after the other.
const LEFT_MS = 600_000

/**
 * Projects that this process, or another one with the same model, has embedded to their end. Where the servers of an installation do not have the same model, as while
 * they get another one after the other, one that is done takes away the vectors of the other model. Whoever made those does
 * not begin again at once: the two would embed all notes in turn, and searches would find nothing meanwhile.
 */
export class OwnProjects {
  readonly #options: OwnProjectsOptions
  readonly #leftUntilMs = new Map<number, number>()
  readonly #own = new Set<number>()
  #since: Micros = 0

  constructor(options: OwnProjectsOptions) {
    this.#options = options
  }

  /** Looks which ones were embedded to their end since the last time, before another model may take their place. */
  async look(modelId: number): Promise<void> {
    const { db, clock } = this.#options
    // Servers need not have the same time.
    const next = clock.now() - LEFT_MS * MICROS_PER_MS
    for (const projectId of await ownProjects(db, modelId, this.#since)) this.add(projectId)
    this.#since = next
  }

  /** For how long the project is left to another model; 0 when it is not. */
  async leftMs(key: SyncKey): Promise<number> {
    const { db, clock, log, embeddings } = this.#options
    const { projectId } = key
    const untilMs = this.#leftUntilMs.get(projectId)
    if (untilMs !== undefined) return Math.max(0, untilMs - clock.elapsedMs())
    if (!this.#own.has(projectId) || !(await isReplaced(db, key))) return 0
    this.#own.delete(projectId)
    this.#leftUntilMs.set(projectId, clock.elapsedMs() + LEFT_MS)
    embeddings.setReplaced(projectId, true)
    const message =
      'another server has embedded the notes of a project with another model: it is left alone for ten minutes'
    log.warn({ projectId }, message)
    return LEFT_MS
  }

  has(projectId: number): boolean {
    return this.#own.has(projectId)
  }

  /** All notes of the project have vectors of our model. */
  add(projectId: number): void {
    this.#own.add(projectId)
    this.#leftUntilMs.delete(projectId)
    this.#options.embeddings.setReplaced(projectId, false)
  }
}
