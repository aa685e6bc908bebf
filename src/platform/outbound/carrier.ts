export type AnswerHeaders = Record<string, string | string[] | number | undefined>

/** One request and what happens to it. */
export interface Carried {
  readonly request: CarriedRequest
  /** Nobody waits for it any more. */
  readonly hasLeft: boolean
  /** Its time is over, and it is about to be given up: it must not be sent any more. */
  readonly isLate: boolean
  onResponseStart(controller: unknown, status: number, headers: AnswerHeaders, statusText?: string): void
  onResponseData(controller: unknown, chunk: Buffer): void
  onResponseEnd(): void
  onResponseError(controller: unknown, error: Error): void
  /** The receiver has not looked at it and says so. */
  onRefused(error: Error): void
  /** Not a byte of it was written when the connection ended. */
  onUnsent(): void
  /** The connection stood, and when its turn came its time was over. */
  onLate(): void
}

/** As HTTP/1.1 has it; `request-bytes.ts` makes it and takes it apart. */
export interface CarriedRequest {
  bytes: Uint8Array
  headBytes: number
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
