import type { Clock } from '../../../platform/clock/clock.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import { type EmbeddingProvider, TextRefused } from '../../semantic/provider.ts'
import type { Semantic, Serving } from '../../semantic/semantic.ts'

export interface QuestionVectorsOptions {
  clock: Clock
  log: Logger
  semantic: Pick<Semantic, 'serving'>
}

/** A question, and whose vectors it can be compared with. */
export interface QuestionVector extends Serving {
  vector: Float32Array
}

const MOST_KEPT = 256
const LONGEST_QUESTION = 8_000
/** Who searches does not wait as long as the sync may: words alone are an answer, too. */
const PATIENCE_MS = 5_000
/** A provider that failed is left alone for so long, and not waited for by every search. */
const REST_MS = 5_000
const MOST_RESTING = 1_000

/** Questions as vectors; the latest are kept, since people and pages repeat them. */
export class QuestionVectors {
  readonly #options: QuestionVectorsOptions
  readonly #kept = new Map<string, Float32Array>()
  /** By provider; by project where none was found for it. Another project may have another one, which works. */
  readonly #restsUntilMs = new Map<EmbeddingProvider | number, number>()

  constructor(options: QuestionVectorsOptions) {
    this.#options = options
  }

  /** Null when the provider does not make one, or not in time. */
  async vectorOf(projectId: number, question: string): Promise<QuestionVector | null> {
    const { log, semantic } = this.#options
    let asked: EmbeddingProvider | number = projectId
    if (this.#isResting(asked)) return null
    try {
      return await this.#inTime(async (signal) => {
        const serving = await semantic.serving(projectId)
        asked = serving.provider
        return this.#ask(serving, question, signal)
      })
    } catch (error) {
      // A question that is refused says nothing about the next one, which is somebody else's.
      if (!(error instanceof TextRefused)) this.#leaveAlone(asked)
      log.warn({ err: error }, 'a question could not be embedded: searching by words only')
      return null
    }
  }

  async #ask(serving: Serving, question: string, signal: AbortSignal): Promise<QuestionVector | null> {
    const text = question.slice(0, LONGEST_QUESTION).toWellFormed()
    const key = `${serving.modelId} ${text}`
    const kept = this.#kept.get(key)
    if (kept === undefined && this.#isResting(serving.provider)) return null
    const vector = kept ?? (await embedded(serving, text, signal))
    this.#keep(key, vector)
    return { ...serving, vector }
  }

  #isResting(asked: EmbeddingProvider | number): boolean {
    return this.#options.clock.elapsedMs() < (this.#restsUntilMs.get(asked) ?? Number.NEGATIVE_INFINITY)
  }

  #leaveAlone(asked: EmbeddingProvider | number): void {
    if (this.#restsUntilMs.size >= MOST_RESTING) this.#restsUntilMs.clear()
    this.#restsUntilMs.set(asked, this.#options.clock.elapsedMs() + REST_MS)
  }

  async #inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const patience = new AbortController()
    const late = Promise.withResolvers<never>()
    const cancel = this.#options.clock.after(PATIENCE_MS, () => {
      const reason = new Error(`The embedding provider did not answer within ${PATIENCE_MS / 1_000} seconds`)
      patience.abort(reason)
      late.reject(reason)
    })
    return Promise.race([work(patience.signal), late.promise]).finally(cancel)
  }

  #keep(key: string, vector: Float32Array): void {
    this.#kept.delete(key)
    this.#kept.set(key, vector)
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest)
  }
}

async function embedded({ provider }: Serving, text: string, signal: AbortSignal): Promise<Float32Array> {
  const [vector] = await provider.embed([text], 'query', signal)
  const { dimensions } = provider.model
  if (vector?.length === dimensions && vector.every(Number.isFinite)) return vector
  throw new Error(`The embedding provider answered with something else than ${dimensions} numbers`)
}
