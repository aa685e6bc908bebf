import type { FastifyRequest } from 'fastify'
import type { CredentialSource } from '../../auth/credentials.ts'
import { plainAddress } from '../connection/client-address.ts'

/** An HTTP request as authentication sees it. */
export class HttpCredentialSource implements CredentialSource {
  readonly #request: FastifyRequest
  readonly #headers: FastifyRequest['headers']
  readonly serverOrigin: string

  constructor(request: FastifyRequest, serverOrigin: string) {
    this.#request = request
    this.#headers = request.headers
    this.serverOrigin = serverOrigin
  }

  get method(): string {
    return this.#request.method
  }

  get remoteAddress(): string {
    return plainAddress(this.#request.raw.socket.remoteAddress ?? '')
  }

  header(name: string): string | undefined {
    const value = this.#headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  headerNames(): Iterable<string> {
    return Object.keys(this.#headers)
  }
}
