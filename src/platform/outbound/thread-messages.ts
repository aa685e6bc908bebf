import { AddressRefused } from './address-refused.ts'
import { ipFilterOf } from './ip-filter.ts'
import type { Answer, Exchanged, OutboundRequest, ReadyRequest } from './outbound-request.ts'

/** One message carries no more: the other side begins with the first of many while this one still makes the rest. */
export const MOST_TOGETHER = 32
// One that is slow keeps the memory of all that went with it.
const MOST_BYTES_TOGETHER = 256 * 1024

/**
 * What happened since the last message. Numbers lie in one list and bytes in one piece of memory, which is handed over: a list of
 * objects takes longer to be copied than a request to be sent.
 */
export interface ToOutboundThread {
  /** REQUEST_NUMBERS for each request, in the order in which `RequestPack` adds them. */
  numbers: number[]
  /** An origin and the key of a filter each. */
  ways: string[]
  bytes: Uint8Array
  /** Numbers of requests that nobody wants any more. */
  givenUp: number[]
}

export interface FromOutboundThread {
  /** PLAIN_MEMBERS for each answer of which nobody reads the headers: its id, status, length and address. */
  plain: (number | string | null)[]
  /** All others. Their bodies lie behind those of the plain ones. */
  answers: SentAnswer[]
  bodies: Uint8Array
}

const REQUEST_NUMBERS = 8
const PLAIN_MEMBERS = 4

export interface SentAnswer {
  id: number
  /** Null in both: it was given up. */
  answer: Omit<Answer, 'body'> | null
  error: SentError | null
  address: string | null
  bodyBytes: number
}

/** As much of an error as a structured clone would lose. */
interface SentError {
  name: string
  message: string
  code: unknown
  cause: SentError | null
  errors: SentError[]
}

const DEEPEST_CAUSE = 8
const NO_BYTES = new Uint8Array()

/** Requests on their way to the thread. */
export class RequestPack {
  readonly #numbers: number[] = []
  readonly #ways: string[] = []
  readonly #heads: string[] = []
  readonly #bodies: Uint8Array[] = []
  #byteLength = 0

  get length(): number {
    return this.#heads.length
  }

  get isFull(): boolean {
    return this.#heads.length >= MOST_TOGETHER || this.#byteLength >= MOST_BYTES_TOGETHER
  }

  add(id: number, head: string, { url, filter, body, ...request }: OutboundRequest): void {
    const bodyBytes = request.method === 'GET' ? 0 : body.byteLength
    const { timeoutMs, maxBodyBytes, isSuccessEnough } = request
    const way = this.#wayOf(url.origin, filter.key)
    const isEnough = isSuccessEnough ? 1 : 0
    this.#numbers.push(id, way, sharedMs(), timeoutMs, maxBodyBytes, isEnough, head.length, bodyBytes)
    this.#heads.push(head)
    this.#bodies.push(body)
    this.#byteLength += head.length + bodyBytes
  }

  message(givenUp: number[]): ToOutboundThread {
    // Of its own, since it is handed over.
    const bytes = Buffer.allocUnsafeSlow(this.#byteLength)
    let at = 0
    for (const [index, head] of this.#heads.entries()) {
      const bodyBytes = this.#numbers[(index + 1) * REQUEST_NUMBERS - 1] as number
      bytes.write(head, at, 'latin1')
      at += head.length
      if (bodyBytes > 0) bytes.set(this.#bodies[index] as Uint8Array, at)
      at += bodyBytes
    }
    return { numbers: this.#numbers, ways: this.#ways, bytes, givenUp }
  }

  #wayOf(origin: string, filterKey: string): number {
    const ways = this.#ways
    for (let at = 0; at < ways.length; at += 2) if (ways[at] === origin && ways[at + 1] === filterKey) return at
    return ways.push(origin, filterKey) - 2
  }
}

export function* unpackRequests({ numbers, ways, bytes }: ToOutboundThread): Generator<ReadyRequest & { id: number }> {
  const nowMs = sharedMs()
  let from = 0
  for (let at = 0; at < numbers.length; at += REQUEST_NUMBERS) {
    const [id, way, askedAtMs, timeoutMs, maxBodyBytes, isEnough, headBytes, bodyBytes] = numbers.slice(
      at,
      at + REQUEST_NUMBERS,
    ) as [number, number, number, number, number, number, number, number]
    const { url, filter } = wayOf(ways[way] as string, ways[way + 1] as string)
    const end = from + headBytes + bodyBytes
    yield {
      id,
      url,
      filter,
      waitedMs: nowMs - askedAtMs,
      timeoutMs,
      maxBodyBytes,
      isSuccessEnough: isEnough === 1,
      bytes: bytes.subarray(from, end),
      headBytes,
    }
    from = end
  }
}

/** The same in all threads, unlike that of a `Clock`: a process may stand still while a request is between two of them. */
function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

// Many requests go to one origin.
const MOST_WAYS = 1_000
const ways = new Map<string, Pick<OutboundRequest, 'url' | 'filter'>>()

function wayOf(origin: string, filterKey: string) {
  const key = `${origin} ${filterKey}`
  const known = ways.get(key)
  if (known !== undefined) return known
  const way = { url: new URL(origin), filter: ipFilterOf(filterKey) }
  if (ways.size >= MOST_WAYS) ways.clear()
  ways.set(key, way)
  return way
}

/** Answers on their way back. */
export class AnswerPack {
  readonly #plain: FromOutboundThread['plain'] = []
  readonly #plainBodies: Uint8Array[] = []
  readonly #answers: SentAnswer[] = []
  readonly #bodies: Uint8Array[] = []

  get length(): number {
    return this.#plain.length / PLAIN_MEMBERS + this.#answers.length
  }

  /** `exchanged`: null when it was given up. `isSuccessEnough`: nobody reads the headers of a success. */
  add(id: number, exchanged: Exchanged | null, isSuccessEnough: boolean): void {
    const answer = exchanged?.answer
    if (answer === undefined) {
      const error = exchanged === null || exchanged.error === undefined ? null : packError(exchanged.error, 0)
      this.#answers.push({ id, answer: null, error, address: exchanged?.address ?? null, bodyBytes: 0 })
      return
    }
    const { status, statusText, headers, body, bodyProblem, isLate } = answer
    const address = exchanged?.address ?? null
    if (isSuccessEnough && status >= 200 && status <= 299 && bodyProblem === undefined) {
      this.#plain.push(id, status, body.byteLength, address)
      if (body.byteLength > 0) this.#plainBodies.push(body)
      return
    }
    const sent = { status, statusText, headers, bodyProblem, isLate }
    this.#answers.push({ id, answer: sent, error: null, address, bodyBytes: body.byteLength })
    this.#bodies.push(body)
  }

  message(): FromOutboundThread {
    return { plain: this.#plain, answers: this.#answers, bodies: joined([...this.#plainBodies, ...this.#bodies]) }
  }
}

/** What came of each request; undefined when it was given up. */
export function* unpackAnswers(message: FromOutboundThread): Generator<[id: number, Exchanged | undefined]> {
  const { plain, answers, bodies } = message
  let at = 0
  for (let member = 0; member < plain.length; member += PLAIN_MEMBERS) {
    const end = at + (plain[member + 2] as number)
    const body = bodies.subarray(at, end)
    at = end
    const answer = { status: plain[member + 1] as number, statusText: '', headers: {}, body }
    yield [plain[member] as number, { answer, address: plain[member + 3] as string | null }]
  }
  for (const { id, answer, error, address, bodyBytes } of answers) {
    const body = bodies.subarray(at, at + bodyBytes)
    at += bodyBytes
    if (error !== null) yield [id, { error: unpackError(error), address }]
    else yield [id, answer === null ? undefined : { answer: { ...answer, body }, address }]
  }
}

function joined(bodies: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const { byteLength } of bodies) length += byteLength
  if (length === 0) return NO_BYTES
  const bytes = new Uint8Array(length)
  let at = 0
  for (const body of bodies) {
    bytes.set(body, at)
    at += body.byteLength
  }
  return bytes
}

/** What is handed over with a message instead of being copied. */
export function handedOver(bytes: Uint8Array): ArrayBuffer[] {
  return bytes.byteLength === 0 ? [] : [bytes.buffer as ArrayBuffer]
}

function packError(error: Error, depth: number): SentError {
  const { name, message, cause } = error
  const isDeep = depth >= DEEPEST_CAUSE
  const bundled: unknown[] = error instanceof AggregateError && !isDeep ? error.errors.slice(0, DEEPEST_CAUSE) : []
  return {
    name,
    message,
    code: codeOf(error),
    cause: cause instanceof Error && !isDeep ? packError(cause, depth + 1) : null,
    errors: bundled.filter((one) => one instanceof Error).map((one) => packError(one, depth + 1)),
  }
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}

function unpackError({ name, message, code, cause, errors }: SentError): Error {
  if (name === AddressRefused.name) return new AddressRefused(message)
  const options = cause === null ? {} : { cause: unpackError(cause) }
  const error =
    errors.length > 0 ? new AggregateError(errors.map(unpackError), message, options) : new Error(message, options)
  return Object.assign(error, { name }, code !== undefined && { code })
}
