import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../src/platform/clock/clock.ts'
import { createFetchJson, type FetchJson } from '../../src/platform/outbound/fetch-json.ts'
import { createIpFilter } from '../../src/platform/outbound/ip-filter.ts'
import { OutboundClient } from '../../src/platform/outbound/outbound-client.ts'

export interface Asked {
  path: string
  authorization: string | undefined
}

/** A translation service on this machine: real HTTP, answers as the test wants them. */
export class TestProvider implements AsyncDisposable {
  readonly asked: Asked[] = []
  /** By path; a number is a status without a body. `hang` never answers. */
  answers: Record<string, unknown> = {}
  #server: Server
  #waiting: (() => void)[] = []

  static async start(answers: Record<string, unknown>): Promise<TestProvider> {
    const provider = new TestProvider(answers)
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve))
    return provider
  }

  private constructor(answers: Record<string, unknown>) {
    this.answers = answers
    this.#server = createServer((request, response) => {
      this.#note(request)
      const answer = this.answers[request.url as string]
      if (answer === 'hang') return
      if (typeof answer === 'number') response.writeHead(answer, { location: `${this.url}/elsewhere` }).end()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? null))
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Until somebody asks the next time. */
  nextQuestion(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #note(request: IncomingMessage): void {
    this.asked.push({ path: request.url as string, authorization: request.headers.authorization })
    for (const tell of this.#waiting.splice(0)) tell()
  }
}

/** As the server asks a service that its operator named, on this machine. */
export function localFetchJson(clock: Clock): FetchJson {
  return createFetchJson(new OutboundClient({ clock }), createIpFilter(['127.0.0.0/8']))
}
