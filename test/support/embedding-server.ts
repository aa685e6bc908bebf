import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface EmbeddingRequest {
  path: string
  authorization: string | undefined
  model: string
  input: string[]
  dimensions: number | undefined
  input_type: string | undefined
}

/** What is answered instead of vectors; nothing: the request stays open. */
export type EmbeddingAnswer = { status?: number; headers?: Record<string, string>; body?: unknown } | 'nothing'

export const EMBEDDED_DIMENSIONS = 16

/** A service that speaks the embeddings call: texts with the same words have the same direction, at no particular length. */
export class EmbeddingServer implements AsyncDisposable {
  readonly requests: EmbeddingRequest[] = []
  /** Asked for each request, which waits for it; undefined for vectors. */
  answer: (request: EmbeddingRequest) => EmbeddingAnswer | undefined | Promise<EmbeddingAnswer | undefined> = () =>
    undefined
  readonly #server: Server
  readonly #listeners = new Set<() => void>()

  constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response))
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  get texts(): string[] {
    return this.requests.flatMap(({ input }) => input)
  }

  /** Resolves when so many requests have come. */
  async received(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#listeners.add(resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { model, input, dimensions, input_type } = JSON.parse(await text(request))
    const { authorization } = request.headers
    const asked = { path: request.url ?? '', authorization, model, input, dimensions, input_type }
    this.requests.push(asked)
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
    const answer = await this.answer(asked)
    if (answer === 'nothing') return
    const { status = 200, headers = {}, body = { data: vectorsOf(input, dimensions) } } = answer ?? {}
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** Of a server of ours that asks this service. */
export function settingsOf({ url }: EmbeddingServer, model = 'small', dimensions = EMBEDDED_DIMENSIONS) {
  return {
    embedding_provider: 'openai' as const,
    embedding_url: url,
    embedding_model: model,
    embedding_dimensions: dimensions,
  }
}

export function vectorsOf(input: readonly string[], dimensions = EMBEDDED_DIMENSIONS) {
  return input.map((one, index) => ({ index, embedding: wordVector(one, dimensions) }))
}

function wordVector(one: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0.01)
  for (const word of one.toLowerCase().split(/\W+/)) {
    let place = 7
    for (const character of word) place = (place * 31 + character.charCodeAt(0)) % dimensions
    vector[place] = (vector[place] as number) + 3
  }
  return vector
}
