/**
 * Any address that speaks the common rerank call: it is given a question and some texts, and says of each how well it answers. It is
 * named by the operator, so it may be anywhere; but what it answers is a stranger's, and judged.
 */
import { AppError } from '../../../platform/errors/app-error.ts'
import { createIpFilter } from '../../../platform/outbound/ip-filter.ts'
import type { Outbound } from '../../../platform/outbound/outbound-request.ts'
import { serviceHeaders } from '../service-headers.ts'
import { readRelevance } from './read-relevance.ts'

export interface RerankerOptions {
  outbound: Outbound
  /** With or without `/rerank` at its end. */
  url: string
  apiKey: string | null
  model: string | null
  timeoutMs: number
  /** How many hits are sorted again. */
  candidates: number
}

export const LONGEST_DOCUMENT = 2_000
const LONGEST_QUESTION = 8_000
const PATH_END = '/rerank'
const EVERYWHERE = createIpFilter(['0.0.0.0/0', '::/0'])
// Some services send the texts back.
const MOST_BYTES = 16_000_000
// Who searches is not told where it is, nor whether there is a key.
const WHO = 'The reranking service'
const RETRY = { headers: { 'retry-after': '5' } }

export class Reranker {
  readonly candidates: number
  readonly #options: RerankerOptions
  readonly #url: URL
  readonly #path: string

  constructor(options: RerankerOptions) {
    this.#options = options
    this.candidates = options.candidates
    this.#url = new URL(options.url)
    const { pathname, search } = this.#url
    const path = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
    this.#path = `${path.endsWith(PATH_END) ? path : `${path}${PATH_END}`}${search}`
  }

  /** By text: how well it answers; undefined for one that the service left out. `unavailable`, or `bad_gateway` for nonsense. */
  async relevance(question: string, documents: readonly string[]): Promise<(number | undefined)[]> {
    const { outbound, apiKey, model, timeoutMs } = this.#options
    const { answer, error } = await outbound.send({
      url: this.#url,
      path: this.#path,
      method: 'POST',
      headers: serviceHeaders(apiKey),
      body: Buffer.from(JSON.stringify(this.#body(model, question, documents))),
      filter: EVERYWHERE,
      timeoutMs,
      maxBodyBytes: MOST_BYTES,
      isSuccessEnough: false,
    })
    if (answer === undefined) throw new AppError('unavailable', `${WHO} does not answer`, { ...RETRY, cause: error })
    const { status, bodyProblem } = answer
    if (status === 429 || status >= 500) throw new AppError('unavailable', `${WHO} answered ${status}`, RETRY)
    if (status !== 200) {
      const message = `${WHO} answered ${status}: correct knowledge.reranker_url, reranker_model or reranker_api_key`
      throw new AppError('bad_gateway', message)
    }
    if (bodyProblem !== undefined) {
      throw new AppError('unavailable', `${WHO} was not understood: ${bodyProblem}`, RETRY)
    }
    return readRelevance(answer.body, documents.length, WHO)
  }

  #body(model: string | null, question: string, documents: readonly string[]) {
    const query = question.slice(0, LONGEST_QUESTION).toWellFormed()
    return { ...(model !== null && { model }), query, documents, top_n: documents.length, return_documents: false }
  }
}
