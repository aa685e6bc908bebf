import type { Clock } from '../../../platform/clock/clock.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { isNotBegun } from '../../../platform/outbound/not-begun.ts'
import { OutboundClient, type OutboundOptions } from '../../../platform/outbound/outbound-client.ts'
import type { Exchanged, Outbound } from '../../../platform/outbound/outbound-request.ts'
import { findTargetProblem } from '../address/find-target-problem.ts'
import { echoMask } from '../answer/echo-mask.ts'
import { readAnswer, snippetOf } from '../answer/read-answer.ts'
import { readError } from '../answer/read-error.ts'
import { SUCCESS, terminalFailure } from '../answer/verdict.ts'
import type { Delivery, DeliveryRequest } from './delivery.ts'

export interface CourierOptions extends OutboundOptions {
  /** What carries the requests out; without it a client of its own does, by the other options. */
  outbound?: Outbound | undefined
}

const MAX_BODY_BYTES = 64 * 1024
const DEFAULT_MAX_DELAY_MS = 3_600_000

/** Brings one completion to its receiver, if that may be called, and says what the answer means. */
export class Courier {
  readonly #clock: Clock
  readonly #outbound: Outbound
  /** Of its own: what was given is others' as well. */
  readonly #client: OutboundClient | null
  #isClosed = false

  constructor(options: CourierOptions) {
    this.#clock = options.clock
    this.#client = options.outbound === undefined ? new OutboundClient(options) : null
    this.#outbound = options.outbound ?? (this.#client as OutboundClient)
  }

  /** Null when attempts can be made at once; else they can when this is over, and it is none of their time. */
  preparing(): Promise<void> | null {
    return this.#outbound.preparing()
  }

  /** Makes one attempt. Rejects only when the signal is aborted, the courier is closed, or this machine could not even try. */
  async deliver(request: DeliveryRequest): Promise<Delivery> {
    const { target, policy, headers, body, timeoutMs, signal } = request
    if (this.#isClosed) throw new Error('Nothing is sent any more: the server is stopping.')
    const problem = findTargetProblem(target, policy)
    if (problem !== undefined) {
      if (signal?.aborted) throw signal.reason
      return { verdict: terminalFailure(problem), statusCode: null, snippet: '', address: null }
    }
    const exchanged = await this.#outbound.send({
      url: target.url,
      path: target.requestPath,
      method: 'POST',
      headers,
      body,
      filter: policy.filter,
      timeoutMs,
      maxBodyBytes: MAX_BODY_BYTES,
      isSuccessEnough: true,
      ...(signal && { signal }),
    })
    if (isNotBegun(exchanged.error)) throw cannotTry(exchanged.error)
    return this.#read(exchanged, request)
  }

  /**
   * Nothing is sent any more. A client of its own breaks off what is underway, whose promises are rejected, and this ends when
   * every socket is closed; what was given is closed by whoever gave it.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client?.close()
  }

  #read({ answer, error, address }: Exchanged, request: DeliveryRequest): Delivery {
    if (answer === undefined) return { verdict: readError(error), statusCode: null, snippet: '', address }
    const { status: statusCode, body } = answer
    // Most receivers say no more than that they have it.
    const isDone = statusCode >= 200 && statusCode <= 299 && body.byteLength === 0
    if (isDone) return { verdict: SUCCESS, statusCode, snippet: '', address }
    const { headers, maxDelayMs = DEFAULT_MAX_DELAY_MS } = request
    const mask = echoMask(headers)
    const verdict = readAnswer(answer, this.#clock.now(), maxDelayMs, mask)
    return { verdict, statusCode, snippet: snippetOf(body, mask), address }
  }
}

/** No fault of the receiver's, and no attempt. */
function cannotTry(cause: unknown): AppError {
  return new AppError(
    'unavailable',
    'The server cannot send right now: repeat the request, and look how busy it is and how many files it may have open (ulimit -n)',
    { cause, headers: { 'retry-after': '5' } },
  )
}
