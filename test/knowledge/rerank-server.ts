import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface RerankRequest {
  path: string
  authorization: string | undefined
  body: { model?: string; query: string; documents: string[]; top_n: number }
}

/** A service that speaks the rerank call: texts with the word "winner" are best. */
export class RerankServer implements AsyncDisposable {
  readonly requests: RerankRequest[] = []
  /** What is answered instead; undefined for what is right. */
  answer: { status?: number; body?: string } | undefined
  readonly #server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as RerankRequest['body']
    this.requests.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
    const results = body.documents.map((document, index) => {
      return { index, relevance_score: document.includes('winner') ? 0.9 : 0.1 - index / 100 }
    })
    response.writeHead(this.answer?.status ?? 200, { 'content-type': 'application/json' })
    response.end(this.answer?.body ?? JSON.stringify({ results: results.toReversed() }))
  })

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  /** What a server needs to use it. */
  get environment(): Record<string, string> {
    return {
      COMMONPLACE_KNOWLEDGE__RERANKER_ENABLED: 'true',
      COMMONPLACE_KNOWLEDGE__RERANKER_URL: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/`,
      COMMONPLACE_KNOWLEDGE__RERANKER_MODEL: 'judge',
      COMMONPLACE_KNOWLEDGE__RERANKER_API_KEY: 'a-secret-key',
      COMMONPLACE_KNOWLEDGE__RERANKER_CANDIDATES: '3',
      COMMONPLACE_KNOWLEDGE__INDEX_DELAY_MS: '0',
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
