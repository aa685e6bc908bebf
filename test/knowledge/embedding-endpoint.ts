import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type EndpointMood =
  | 'works'
  | 'fails'
  | 'is silent'
  | 'has other dimensions'
  | 'has no numbers'
  | 'talks nonsense'

const DIMENSIONS = 32

/** A service that speaks the embeddings call of OpenAI, in whatever mood a test wants. */
export class EmbeddingEndpoint implements AsyncDisposable {
  mood: EndpointMood = 'works'
  #asked = Promise.withResolvers<void>()
  readonly #server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => this.#answer(JSON.parse(body).input, response))
  })

  static async start(): Promise<EmbeddingEndpoint> {
    const endpoint = new EmbeddingEndpoint()
    await new Promise<void>((resolve) => endpoint.#server.listen(0, '127.0.0.1', resolve))
    return endpoint
  }

  /** What a server needs to use it. */
  get environment(): Record<string, string> {
    return {
      COMMONPLACE_KNOWLEDGE__EMBEDDING_PROVIDER: 'openai',
      COMMONPLACE_KNOWLEDGE__EMBEDDING_URL: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`,
      COMMONPLACE_KNOWLEDGE__EMBEDDING_DIMENSIONS: String(DIMENSIONS),
      COMMONPLACE_KNOWLEDGE__INDEX_DELAY_MS: '0',
    }
  }

  /** Resolves when it is asked for the next time. */
  isAsked(): Promise<void> {
    this.#asked = Promise.withResolvers()
    return this.#asked.promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(input: string | string[], response: ServerResponse): void {
    this.#asked.resolve()
    if (this.mood === 'is silent') return
    response.setHeader('content-type', 'application/json')
    if (this.mood === 'fails') response.statusCode = 500
    if (this.mood === 'talks nonsense') return void response.end('<html>')
    const data = [input].flat().map((text, index) => ({ object: 'embedding', index, embedding: this.#vector(text) }))
    response.end(JSON.stringify({ object: 'list', data, model: 'test', usage: { prompt_tokens: 1, total_tokens: 1 } }))
  }

  /** Words by their letters: texts with the same words are alike. */
  #vector(text: string): unknown[] {
    const vector = new Array<number>(this.mood === 'has other dimensions' ? DIMENSIONS / 2 : DIMENSIONS).fill(0.01)
    for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
      let hash = 7
      for (const letter of word) hash = (hash * 31 + letter.charCodeAt(0)) % 65_521
      vector[hash % vector.length] = (vector[hash % vector.length] as number) + 1
    }
    return this.mood === 'has no numbers' ? vector.map(() => null) : vector
  }
}
