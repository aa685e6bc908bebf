import type { Micros } from '../../platform/clock/clock.ts'
import type { IpFilter } from '../../platform/outbound/ip-filter.ts'
import { type Answer, headerOf, type Outbound } from '../../platform/outbound/outbound-request.ts'
import { readRetryAfter } from '../../platform/outbound/retry-after.ts'
import { storableText } from '../../platform/text/storable-text.ts'
import { CallFailed } from './call-failed.ts'
import { TextRefused } from './provider.ts'
import { readEmbeddings } from './read-embeddings.ts'
import { serviceHeaders } from './service-headers.ts'

export interface EmbeddingCallOptions {
  outbound: Outbound
  filter: IpFilter
  /** With or without `/embeddings` at its end. */
  url: string
  apiKey: string | null
  model: string
  dimensions: number | null
}

export interface AskOptions {
  /** Null: none is sent. */
  inputType: string | null
  timeoutMs: number
  signal?: AbortSignal | undefined
  now: Micros
}

const PATH_END = '/embeddings'
// Of a vector: 8192 numbers as JSON.
const MOST_VECTOR_BYTES = 220_000
const MOST_OTHER_BYTES = 1_000_000
const LONGEST_REASON = 200
const LONGEST_WAIT_MS = 3_600_000
// Whatever the texts are, as a rule: the service is away, or took too long behind its gateway.
const BUSY_STATUSES = new Set([503, 504])

/** One request for vectors. Neither the key nor the path, which may hold one, is ever part of a message. */
export class EmbeddingCall {
  /** Begins sentences about the other side. */
  readonly who: string
  readonly #options: EmbeddingCallOptions
  readonly #url: URL
  readonly #path: string

  constructor(options: EmbeddingCallOptions) {
    this.#options = options
    this.#url = new URL(options.url)
    const { pathname, search } = this.#url
    const path = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
    this.#path = `${path.endsWith(PATH_END) ? path : `${path}${PATH_END}`}${search}`
    this.who = `The embedding service ${this.#url.host}`
  }

  async ask(texts: readonly string[], { inputType, timeoutMs, signal, now }: AskOptions): Promise<Float32Array[]> {
    const { outbound, filter, apiKey, model, dimensions } = this.#options
    const body = {
      model,
      input: texts,
      encoding_format: 'float',
      ...(dimensions !== null && { dimensions }),
      ...(inputType !== null && { input_type: inputType }),
    }
    const { answer, error } = await outbound.send({
      url: this.#url,
      path: this.#path,
      method: 'POST',
      headers: serviceHeaders(apiKey),
      body: Buffer.from(JSON.stringify(body)),
      filter,
      timeoutMs,
      maxBodyBytes: MOST_OTHER_BYTES + texts.length * MOST_VECTOR_BYTES,
      isSuccessEnough: false,
      ...(signal !== undefined && { signal }),
    })
    if (answer === undefined) {
      throw new CallFailed(`${this.who} could not be asked: ${error.message}`, { isTransient: true, cause: error })
    }
    if (answer.status !== 200) throw this.#refused(answer, texts.length, now)
    if (answer.bodyProblem !== undefined) {
      throw new CallFailed(`${this.who} was not understood: ${answer.bodyProblem}`, { isTransient: true })
    }
    return readEmbeddings(answer.body, texts.length, this.who)
  }

  #refused(answer: Answer, count: number, now: Micros): Error {
    const { status } = answer
    const said = storableText(this.#withoutKey(messageOf(answer)), LONGEST_REASON)
    const reason = said === '' ? '' : ` (${said})`
    if (status === 429 || status >= 500) {
      const retryAfterMs = readRetryAfter(headerOf(answer, 'retry-after'), now, LONGEST_WAIT_MS)
      // Some fall over a text that is too long for them.
      const mayBeOfTexts = status >= 500 && !BUSY_STATUSES.has(status)
      return new CallFailed(`${this.who} answered ${status}${reason}`, {
        isTransient: true,
        mayBeOfTexts,
        isOfRate: status === 429,
        retryAfterMs,
      })
    }
    if (status === 401 || status === 403) {
      const message = `${this.who} answered ${status}: correct knowledge.embedding_api_key`
      return new CallFailed(message, { isTransient: false })
    }
    if (status === 400 || status === 413 || status === 422) {
      return new TextRefused(`${this.who} answered ${status} to ${count} texts${reason}`)
    }
    const message = `${this.who} answered ${status}${reason}: correct knowledge.embedding_url or knowledge.embedding_model`
    return new CallFailed(message, { isTransient: false })
  }

  /** Services quote what they were sent. */
  #withoutKey(text: string): string {
    const { apiKey } = this.#options
    return apiKey === null || apiKey === '' ? text : text.replaceAll(apiKey, '…')
  }
}

/** What the service says itself, in its own words: `{error: {message}}`, or nothing. */
function messageOf({ body }: Answer): string {
  try {
    const { error } = JSON.parse(new TextDecoder().decode(body)) as { error?: unknown }
    const message = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error
    return typeof message === 'string' ? message : ''
  } catch {
    return ''
  }
}
