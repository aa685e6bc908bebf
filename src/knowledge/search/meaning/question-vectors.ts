import type { Clock } from '../../../platform/clock/clock.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import { TextRefused } from '../../semantic/provider.ts'
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

/** Questions as vectors; the latest are kept, since people and pages repeat them. */
export class QuestionVectors {
  readonly #options: QuestionVectorsOptions
  readonly #kept = new Map<string, Float32Array>()
  #restsUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: QuestionVectorsOptions) {
    this.#options = options
  }

  /** Null when the provider does not make one, or not in time. */
  async vectorOf(projectId: number, question: string): Promise<QuestionVector | null> {
    const { clock, log } = this.#options
    if (clock.elapsedMs() < this.#restsUntilMs) return null
    try {
      return await this.#inTime((signal) => this.#ask(projectId, question, signal))
    } catch (error) {
      // A question that is refused says nothing about the next one, which is somebody else's.
      if (!(error instanceof TextRefused)) this.#restsUntilMs = clock.elapsedMs() + REST_MS
      log.warn({ err: error }, 'a question could not be embedded: searching by words only')
      return null
    }
  }

  async #ask(projectId: number, question: string, signal: AbortSignal): Promise<QuestionVector> {
    const serving = await this.#options.semantic.serving(projectId)
    const text = question.slice(0, LONGEST_QUESTION).toWellFormed()
    const key = `${serving.modelId} ${text}`
    const vector = this.#kept.get(key) ?? (await embedded(serving, text, signal))
    this.#keep(key, vector)
    return { ...serving, vector }
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
