/**
 * Any address that speaks the embeddings call of OpenAI: hosted services, gateways, local servers. It is named by the operator,
 * so it may be anywhere; but what it answers is a stranger's, and judged.
 */
import { type Clock, sleep } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { retryDelayMs } from '../../platform/jobs/backoff.ts'
import { createIpFilter } from '../../platform/outbound/ip-filter.ts'
import type { Outbound } from '../../platform/outbound/outbound-request.ts'
import { CallFailed } from './call-failed.ts'
import { CHUNK_FORMAT } from './chunk/chunk-note.ts'
import { EmbeddingCall } from './embedding-call.ts'
import { inBatches } from './in-batches.ts'
import type { EmbeddingKind, EmbeddingModel, EmbeddingProvider } from './provider.ts'

export interface OpenAiOptions {
  outbound: Outbound
  clock: Clock
  url: string
  apiKey: string | null
  model: string | null
  /** Null: what the model gives. */
  dimensions: number | null
  batchSize: number
  timeoutMs: number
}

const DEFAULT_MODEL = 'text-embedding-3-small'
const EVERYWHERE = createIpFilter(['0.0.0.0/0', '::/0'])
const TRIES = 4
const BACKOFF = { initialMs: 500, maxMs: 30_000, coefficient: 2, jitter: 0.2 }
const CALLS_AT_ONCE = 4
// Of all texts of a call; services refuse more than some hundred thousand tokens.
const MOST_CHARACTERS = 200_000
// Whoever searches does not wait for longer, and the next ones do not wait at all for a while.
const QUERY_MS = 5_000
const QUERY_PAUSE_MS = 10_000
// There is no one value for all models; this lets through what is anywhere near in any of them.
const MIN_SIMILARITY = 0.25

/** Asks once what the model gives, where nobody said it. */
export async function openOpenAiProvider(options: OpenAiOptions): Promise<EmbeddingProvider> {
  const call = new EmbeddingCall({
    outbound: options.outbound,
    filter: EVERYWHERE,
    url: options.url,
    apiKey: options.apiKey,
    model: options.model ?? DEFAULT_MODEL,
    dimensions: options.dimensions,
  })
  const dimensions = options.dimensions ?? (await dimensionsOf(call, options))
  const model: EmbeddingModel = {
    provider: 'openai',
    name: options.model ?? DEFAULT_MODEL,
    version: String(CHUNK_FORMAT),
    dimensions,
    minSimilarity: MIN_SIMILARITY,
  }
  return new OpenAiProvider(call, model, options)
}

async function dimensionsOf(call: EmbeddingCall, { timeoutMs, clock }: OpenAiOptions): Promise<number> {
  const [vector] = await call.ask(['dimensions'], { timeoutMs, now: clock.now() })
  return (vector as Float32Array).length
}

class OpenAiProvider implements EmbeddingProvider {
  readonly model: EmbeddingModel
  readonly #call: EmbeddingCall
  readonly #options: OpenAiOptions
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #pausedBy: AppError | undefined

  constructor(call: EmbeddingCall, model: EmbeddingModel, options: OpenAiOptions) {
    this.#call = call
    this.model = model
    this.#options = options
  }

  async embed(texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]> {
    if (kind === 'query') return this.#embedQuery(texts, signal)
    const { batchSize } = this.#options
    const limit = { texts: batchSize, characters: MOST_CHARACTERS, atOnce: CALLS_AT_ONCE }
    return inBatches(texts, limit, (batch) => this.#embedBatch(batch, signal))
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Once, and not for long: who waits for it has found by words meanwhile. */
  async #embedQuery(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const { clock, timeoutMs } = this.#options
    if (this.#pausedBy !== undefined && clock.elapsedMs() < this.#pausedUntilMs) throw this.#pausedBy
    try {
      const vectors = await this.#ask(texts, Math.min(timeoutMs, QUERY_MS), signal)
      this.#pausedBy = undefined
      return vectors
    } catch (error) {
      if (error instanceof CallFailed && error.isTransient) {
        this.#pausedBy = error
        this.#pausedUntilMs = clock.elapsedMs() + Math.max(QUERY_PAUSE_MS, error.retryAfterMs ?? 0)
      }
      throw error
    }
  }

  async #embedBatch(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const { clock, timeoutMs } = this.#options
    for (let tries = 1; ; tries++) {
      try {
        return await this.#ask(texts, timeoutMs, signal)
      } catch (error) {
        if (!(error instanceof CallFailed) || !error.isTransient || tries === TRIES) throw error
        // One that asks for more patience than this is left alone by whoever wanted the vectors.
        if ((error.retryAfterMs ?? 0) > BACKOFF.maxMs) throw error
        await sleep(clock, Math.max(error.retryAfterMs ?? 0, retryDelayMs(tries, BACKOFF)), signal)
      }
    }
  }

  async #ask(texts: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<Float32Array[]> {
    const vectors = await this.#call.ask(texts, { timeoutMs, signal, now: this.#options.clock.now() })
    const wrong = vectors.find(({ length }) => length !== this.model.dimensions)
    if (wrong === undefined) return vectors
    throw new AppError(
      'unavailable',
      `${this.#call.who} gave ${wrong.length} dimensions instead of ${this.model.dimensions}: correct knowledge.embedding_dimensions or knowledge.embedding_model`,
    )
  }
}
