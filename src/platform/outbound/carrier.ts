import type { Dispatcher } from 'undici'
import type { AnswerHeaders } from './outbound-request.ts'

/** One request and what happens to it. */
export interface Carried extends Dispatcher.DispatchHandler {
  readonly request: CarriedRequest
  /** Nobody waits for it any more. */
  readonly hasLeft: boolean
  onResponseStart(controller: unknown, status: number, headers: AnswerHeaders, statusText?: string): void
  onResponseData(controller: unknown, chunk: Buffer): void
  onResponseEnd(): void
  onResponseError(controller: unknown, error: Error): void
  /** The receiver has not looked at it and says so. */
  onRefused(error: Error): void
}

export interface CarriedRequest {
  method: 'GET' | 'POST'
  path: string
  /** Names and values in turn. */
  headers: string[]
  body: Uint8Array
}

/** What sends requests over a socket that stands. */
export interface Carrier {
  readonly protocol: 'http/1.1' | 'h2'
  /** How many at a time. */
  readonly limit: number
  send(carried: Carried): void
  /** Ends at once, with whatever it carries. */
  destroy(reason: Error, done: () => void): void
}
