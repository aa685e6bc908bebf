import type { Worker as Thread } from 'node:worker_threads'
import { type Clock, settlesWithin } from '../../../platform/clock/clock.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Logger } from '../../../platform/logging/logger.ts'
import type { NearChunk } from './near-chunk.ts'
import { MOST_DIMENSIONS } from './scan-kernel.ts'
import type { VectorPlace } from './store-vector-connection.ts'
import type { VectorQuestion } from './vector-question.ts'
import type { VectorSearch } from './vector-search.ts'
import { type FromVectorThread, startVectorThread, type ToVectorThread } from './vector-thread.ts'

export interface ThreadVectorSearchOptions {
  place: VectorPlace
  maxBytes: number
  clock: Clock
  log: Logger
  /** For tests that end it. */
  startThread?: typeof startVectorThread
}

// A thread holds its vectors; after so long without a question they are worth reading again.
const IDLE_MS = 300_000
const STOP_MS = 2_000
const MOST_WAITING = 1_000

interface Waiting {
  givenUp: Int32Array
  resolve(chunks: NearChunk[]): void
  reject(reason: unknown): void
}

/** Questions are answered by a thread, which is started by the first one and ends when none came for a while. */
export class ThreadVectorSearch implements VectorSearch {
  readonly #options: Required<ThreadVectorSearchOptions>
  readonly #waiting = new Map<number, Waiting>()
  /** Also those that were told to end and have not yet. */
  readonly #threads = new Set<Thread>()
  #thread: Thread | undefined
  #cancelIdling: (() => void) | undefined
  #lastId = 0
  #isClosed = false

  constructor(options: ThreadVectorSearchOptions) {
    this.#options = { startThread: startVectorThread, ...options }
  }

  async nearest({ projectId, modelId, vector, k }: VectorQuestion, signal?: AbortSignal): Promise<NearChunk[]> {
    signal?.throwIfAborted()
    check(vector, k)
    if (this.#isClosed || this.#waiting.size >= MOST_WAITING) throw unavailable()
    const { promise, resolve, reject } = Promise.withResolvers<NearChunk[]>()
    const id = ++this.#lastId
    const givenUp = new Int32Array(new SharedArrayBuffer(4))
    const giveUp = () => {
      Atomics.store(givenUp, 0, 1)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    this.#waiting.set(id, { givenUp, resolve, reject })
    // A copy: of a view the whole buffer would be sent.
    const question = { projectId, modelId, vector: vector.slice(), k }
    this.#ask({ type: 'nearest', id, question, givenUp })
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#cancelIdling?.()
    this.#thread?.postMessage({ type: 'stop' } satisfies ToVectorThread)
    this.#thread = undefined
    for (const { givenUp, reject } of this.#waiting.values()) {
      Atomics.store(givenUp, 0, 1)
      reject(unavailable())
    }
    this.#waiting.clear()
    await Promise.all([...this.#threads].map((thread) => this.#end(thread)))
  }

  async #end(thread: Thread): Promise<void> {
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    if (!(await settlesWithin(this.#options.clock, STOP_MS, ended))) await thread.terminate()
  }

  #ask(message: ToVectorThread): void {
    this.#cancelIdling?.()
    this.#cancelIdling = undefined
    this.#thread ??= this.#start()
    this.#thread.postMessage(message)
  }

  #start(): Thread {
    const { startThread, place, maxBytes, log } = this.#options
    const thread = startThread({ place, maxBytes })
    this.#threads.add(thread)
    thread.on('message', (message: FromVectorThread) => this.#hear(message))
    thread.once('error', (error) => log.error({ err: error }, 'the thread that searches vectors failed'))
    thread.once('exit', () => {
      this.#threads.delete(thread)
      if (this.#thread !== thread) return
      this.#thread = undefined
      // The next question starts another one.
      for (const { reject } of this.#waiting.values()) reject(unavailable())
      this.#waiting.clear()
    })
    return thread
  }

  #hear(message: FromVectorThread): void {
    const { log } = this.#options
    if (message.type === 'trouble') {
      log.warn({ err: message.reason }, 'pgvector cannot be used: vectors are searched in memory')
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.type === 'found') waiting?.resolve(message.chunks)
    else if (message.type === 'failed') {
      // Nobody waits: that is the end of the server, which takes the database away.
      if (waiting !== undefined) log.warn({ err: message.reason }, 'vectors cannot be searched')
      waiting?.reject(unavailable(message.reason))
    }
    if (this.#waiting.size === 0 && !this.#isClosed) this.#idle()
  }

  #idle(): void {
    this.#cancelIdling?.()
    this.#cancelIdling = this.#options.clock.after(IDLE_MS, () => {
      this.#thread?.postMessage({ type: 'stop' } satisfies ToVectorThread)
      this.#thread = undefined
    })
  }
}

function check(vector: Float32Array, k: number): void {
  if (vector.length < 1 || vector.length > MOST_DIMENSIONS) throw new RangeError(`A vector of ${vector.length} numbers`)
  if (!vector.every(Number.isFinite)) throw new RangeError('A vector with something in it that is no number')
  if (!Number.isSafeInteger(k) || k < 1) throw new RangeError(`The ${k} nearest`)
}

function unavailable(cause?: Error): AppError {
  return new AppError('unavailable', 'The search by meaning does not answer right now: repeat the request', {
    cause,
    headers: { 'retry-after': '5' },
  })
}
