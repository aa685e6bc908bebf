import { settlesWithin } from '../../platform/clock/clock.ts'
import { AppError, isAppError } from '../../platform/errors/app-error.ts'
import { ignoreFailure } from '../../platform/errors/ignore-failure.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Database } from '../../platform/storage/database.ts'
import { CallFailed } from './call-failed.ts'
import {
  type ConfiguredModel,
  configuredModel,
  isComparable,
  type ModelName,
  openProvider,
  type ProviderDeps,
  reopenProvider,
} from './open-provider.ts'
import type { EmbeddingModel, EmbeddingProvider } from './provider.ts'
import { completedModels, latestModel, requireModelId } from './store-models.ts'

export interface EmbeddingsOptions extends ProviderDeps {
  db: Database
  log: Logger
}

/** What answers a question about a project: vectors of this number, and the provider that makes such a one of the question. */
export interface Serving {
  modelId: number
  provider: EmbeddingProvider
}

/** The model of the settings in a project, as far as it is known. */
export interface KnownModel extends Pick<EmbeddingModel, 'provider' | 'name'> {
  modelId: number
  dimensions: number | null
  /** False: it could not be opened. */
  isOpen: boolean
}

// Numbers begin at 1: there is nothing under this one.
const NO_MODEL_ID = 0
const REST_MS = 5_000
// Who searches or looks does not wait as long for a service as a call of it may take.
const PATIENCE_MS = 5_000
const NOT_YET = 'The embedding provider has not answered yet'
const REOPEN_AFTER_MS = 30_000
const MOST_REMEMBERED = 10_000

/** The provider of the settings, opened when it is first needed; and earlier ones, as long as a project still needs them. */
export class Embeddings implements AsyncDisposable {
  readonly #options: EmbeddingsOptions
  readonly #earlier = new Map<number, Promise<EmbeddingProvider | null>>()
  /** Projects whose notes the model of the settings has had; that stays so. */
  readonly #isComplete = new Set<number>()
  /** Projects whose vectors of that model another process has taken away for its own. */
  readonly #isReplaced = new Set<number>()
  readonly #stopping = new AbortController()
  #current: Promise<EmbeddingProvider> | undefined
  #opened: EmbeddingProvider | undefined
  #modelId: Promise<number> | undefined
  #openingSinceMs = Number.NEGATIVE_INFINITY
  #restsUntilMs = Number.NEGATIVE_INFINITY
  #problem: AppError | undefined

  constructor(options: EmbeddingsOptions) {
    this.#options = options
  }

  /** Why the provider is not open; null when it is, or nobody needed it yet. */
  get problem(): string | null {
    if (this.#problem !== undefined) return this.#problem.message
    return this.#current !== undefined && this.#opened === undefined ? NOT_YET : null
  }

  /** `unavailable` when it cannot be opened; it is tried again at most every few seconds, or when a service says so. */
  async current(): Promise<EmbeddingProvider> {
    const { clock } = this.#options
    if (this.#problem !== undefined && clock.elapsedMs() < this.#restsUntilMs) throw this.#problem
    this.#current ??= this.#open()
    return this.#current
  }

  /** Of the provider of the settings. */
  async modelId(): Promise<number> {
    const { db, clock } = this.#options
    const { model } = await this.current()
    this.#modelId ??= requireModelId(db, model, clock.now())
    try {
      return await this.#modelId
    } catch (error) {
      this.#modelId = undefined
      throw error
    }
  }

  /** Also while it cannot be opened: by what the settings say and what there is of it. */
  async known(projectId: number): Promise<KnownModel> {
    const { db, settings } = this.#options
    const openId = await this.#currentServing().then(
      ({ modelId }) => modelId,
      () => null,
    )
    const model = this.#opened?.model
    if (openId !== null && model !== undefined) {
      const { provider, name, dimensions } = model
      return { modelId: openId, provider, name, dimensions, isOpen: true }
    }
    const configured = configuredModel(settings)
    const { provider, name } = configured
    const latest = await latestModel(db, projectId, configured)
    const dimensions = latest?.dimensions ?? configured.dimensions
    return { modelId: latest?.id ?? NO_MODEL_ID, provider, name, dimensions, isOpen: false }
  }

  /**
   * While vectors of a new model are made, or it cannot be opened, those of the one before it answer, where they can still be asked.
   */
  async serving(projectId: number): Promise<Serving> {
    const hasFailed = this.#problem !== undefined
    const opening = this.#currentServing()
    ignoreFailure(opening, 'awaited below, where it is needed')
    // Nobody waits until what failed before has failed again.
    const earlier = hasFailed ? await this.#servingWithout(projectId) : null
    if (earlier !== null) return earlier
    try {
      return await this.#servingBeside(projectId, await opening)
    } catch (error) {
      const instead = isAppError(error) && this.#problem !== undefined ? await this.#servingWithout(projectId) : null
      if (instead === null) throw error
      return instead
    }
  }

  /** Whether another process has put vectors of another model in the place of those of the settings. */
  setReplaced(projectId: number, isReplaced: boolean): void {
    if (!isReplaced) this.#isReplaced.delete(projectId)
    else {
      this.#isComplete.delete(projectId)
      this.#isReplaced.add(projectId)
    }
  }

  /** Gives up what is being opened: a stop does not wait for a service that is silent. */
  stopOpening(): void {
    this.#stopping.abort(new AppError('unavailable', 'Nothing is embedded any more: the server is stopping'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled([this.#current, ...this.#earlier.values()])
    for (const result of opened) {
      if (result.status === 'fulfilled') await result.value?.[Symbol.asyncDispose]()
    }
    await this.#options.thread[Symbol.asyncDispose]()
  }

  async #currentServing(): Promise<Serving> {
    return { provider: await this.#currentSoon(), modelId: await this.modelId() }
  }

  /** `unavailable` also when it is being opened for a while already. */
  async #currentSoon(): Promise<EmbeddingProvider> {
    const { clock } = this.#options
    const opening = this.current()
    const leftMs = this.#openingSinceMs + PATIENCE_MS - clock.elapsedMs()
    if (this.#opened === undefined && !(await settlesWithin(clock, leftMs, opening))) {
      throw new AppError('unavailable', NOT_YET)
    }
    return opening
  }

  async #servingBeside(projectId: number, current: Serving): Promise<Serving> {
    const { modelId, provider } = current
    if (this.#isComplete.has(projectId)) return current
    const isReplaced = this.#isReplaced.has(projectId)
    const all = await completedModels(this.#options.db, projectId)
    const completed = isReplaced ? all.filter(({ id }) => id !== modelId) : all
    if (completed.some(({ id }) => id === modelId)) this.#remember(projectId)
    if (completed.length === 0 || this.#isComplete.has(projectId)) return current
    for (const model of completed) {
      const earlier = isComparable(provider.model, model) ? provider : await this.#reopen(model.id, model)
      if (earlier !== null) return { modelId: model.id, provider: earlier }
    }
    if (isReplaced)
      throw new AppError('unavailable', 'The notes were embedded with a model that this server does not have')
    return current
  }

  /** Null when no model but that of the settings has had all notes: what there is of another one then is on its way out. */
  async #servingWithout(projectId: number): Promise<Serving | null> {
    const { db, settings } = this.#options
    const completed = await completedModels(db, projectId)
    const configured = configuredModel(settings)
    if (completed.some((model) => mayBe(model, configured))) return null
    for (const model of completed) {
      const provider = await this.#reopen(model.id, model)
      if (provider !== null) return { modelId: model.id, provider }
    }
    return null
  }

  async #open(): Promise<EmbeddingProvider> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    this.#openingSinceMs = clock.elapsedMs()
    try {
      this.#opened = await openProvider({ ...this.#options, signal })
      this.#problem = undefined
      return this.#opened
    } catch (error) {
      this.#current = undefined
      const askedMs = error instanceof CallFailed ? error.retryAfterMs : undefined
      this.#restsUntilMs = clock.elapsedMs() + Math.max(REST_MS, askedMs ?? 0)
      const message = 'The embedding provider does not work: see "commonplace doctor"'
      const problem = isAppError(error) ? error : new AppError('unavailable', message, { cause: error })
      const isNews = this.#problem?.message !== problem.message && !signal.aborted
      if (isNews) log.warn({ err: error }, 'searching by words only')
      this.#problem = problem
      throw problem
    }
  }

  #remember(projectId: number): void {
    if (this.#isComplete.size >= MOST_REMEMBERED) this.#isComplete.clear()
    this.#isComplete.add(projectId)
  }

  #reopen(modelId: number, model: ModelName): Promise<EmbeddingProvider | null> {
    const known = this.#earlier.get(modelId)
    if (known !== undefined) return known
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    const opening = reopenProvider({ ...this.#options, signal }, model).catch((error: unknown) => {
      log.info({ err: error }, 'the embedding model before this one cannot be asked; it is tried again')
      clock.after(REOPEN_AFTER_MS, () => this.#earlier.delete(modelId))
      return null
    })
    this.#earlier.set(modelId, opening)
    return opening
  }
}

/** Whether the settings may mean this model, as far as that is known without opening it. */
function mayBe(model: ModelName, { provider, name, version, dimensions }: ConfiguredModel): boolean {
  return (
    model.provider === provider &&
    model.name === name &&
    (version === null || model.version === version) &&
    (dimensions === null || model.dimensions === dimensions)
  )
}
