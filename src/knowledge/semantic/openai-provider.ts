/**
 * Any address that speaks the embeddings call of OpenAI: hosted services, gateways, local servers. It is named by the operator,
 * so it may be anywhere; but what it answers is a stranger's, and judged.
 */
import { createHash } from 'node:crypto'
import { type Clock, sleep } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { retryDelayMs } from '../../platform/jobs/backoff.ts'
import { createIpFilter } from '../../platform/outbound/ip-filter.ts'
import type { Outbound } from '../../platform/outbound/outbound-request.ts'
import { CallFailed } from './call-failed.ts'
import { CHUNK_FORMAT } from './chunk/chunk-note.ts'
import { type AskOptions, EmbeddingCall } from './embedding-call.ts'
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
  /** Gives up the opening. */
  signal?: AbortSignal | undefined
  /** Put before what is embedded. */
  prompts: Record<EmbeddingKind, string>
  /** Null: none is sent. */
  inputTypes: Record<EmbeddingKind, string | null>
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

/** What makes the model, as far as that is known without asking. */
type Named = Pick<OpenAiOptions, 'model' | 'dimensions' | 'prompts' | 'inputTypes'>

export function openAiModel({ model, dimensions, prompts, inputTypes }: Named) {
  return {
    provider: 'openai',
    name: model ?? DEFAULT_MODEL,
    version: versionOf({ prompts, inputTypes }),
    dimensions,
  } as const
}

/** Asks once what the model gives, where nobody said it. */
export async function openOpenAiProvider(options: OpenAiOptions): Promise<EmbeddingProvider> {
  const named = openAiModel(options)
  const call = new EmbeddingCall({
    outbound: options.outbound,
    filter: EVERYWHERE,
    url: options.url,
    apiKey: options.apiKey,
    model: named.name,
    dimensions: options.dimensions,
  })
  const dimensions = options.dimensions ?? (await dimensionsOf(call, options))
  const model: EmbeddingModel = { ...named, dimensions, minSimilarity: MIN_SIMILARITY }
  return new OpenAiProvider(call, model, options)
}

/** What questions are sent with is no part of it: no vector of a note is another for it. */
function versionOf({ prompts, inputTypes }: Pick<OpenAiOptions, 'prompts' | 'inputTypes'>): string {
  if (prompts.document === '' && inputTypes.document === null) return String(CHUNK_FORMAT)
  const given = JSON.stringify([prompts.document, inputTypes.document])
  return `${createHash('sha256').update(given).digest('hex').slice(0, 12)}.${CHUNK_FORMAT}`
}

/** Whether nothing but what notes were sent with makes the difference: questions are near what answers them then, too. */
export function isSameButPrompts(
  one: Pick<EmbeddingModel, 'version'>,
  other: Pick<EmbeddingModel, 'version'>,
): boolean {
  const formatOf = ({ version }: Pick<EmbeddingModel, 'version'>) => version.slice(version.lastIndexOf('.') + 1)
  return formatOf(one) === formatOf(other)
}

async function dimensionsOf(call: EmbeddingCall, options: OpenAiOptions): Promise<number> {
  const { timeoutMs, signal, clock, prompts, inputTypes } = options
  const asked = { inputType: inputTypes.document, timeoutMs, signal, now: clock.now() }
  const [vector] = await call.ask([`${prompts.document}dimensions`], asked)
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
    const { batchSize, prompts } = this.#options
    const prompt = prompts[kind]
    const prompted = prompt === '' ? texts : texts.map((text) => prompt + text)
    if (kind === 'query') return this.#embedQuery(prompted, signal)
    const limit = { texts: batchSize, characters: MOST_CHARACTERS, atOnce: CALLS_AT_ONCE }
    return inBatches(prompted, limit, (batch) => this.#embedBatch(batch, signal))
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Once, and not for long: who waits for it has found by words meanwhile. */
  async #embedQuery(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const { clock, timeoutMs } = this.#options
    if (this.#pausedBy !== undefined && clock.elapsedMs() < this.#pausedUntilMs) throw this.#pausedBy
    try {
      const vectors = await this.#ask(texts, 'query', { timeoutMs: Math.min(timeoutMs, QUERY_MS), signal })
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
        const vectors = await this.#ask(texts, 'document', { timeoutMs, signal })
        // It works again: questions need not wait until then, which may be an hour.
        this.#pausedBy = undefined
        return vectors
      } catch (error) {
        if (!(error instanceof CallFailed) || !error.isTransient || tries === TRIES) throw error
        // One that asks for more patience than this is left alone by whoever wanted the vectors.
        if ((error.retryAfterMs ?? 0) > BACKOFF.maxMs) throw error
        await sleep(clock, Math.max(error.retryAfterMs ?? 0, retryDelayMs(tries, BACKOFF)), signal)
      }
    }
  }

  async #ask(
    texts: readonly string[],
    kind: EmbeddingKind,
    patience: Pick<AskOptions, 'timeoutMs' | 'signal'>,
  ): Promise<Float32Array[]> {
    const { clock, inputTypes } = this.#options
    const vectors = await this.#call.ask(texts, { ...patience, inputType: inputTypes[kind], now: clock.now() })
    const wrong = vectors.find(({ length }) => length !== this.model.dimensions)
    if (wrong === undefined) return vectors
    throw new AppError(
      'unavailable',
      `${this.#call.who} gave ${wrong.length} dimensions instead of ${this.model.dimensions}: correct knowledge.embedding_dimensions or knowledge.embedding_model`,
    )
  }
}
