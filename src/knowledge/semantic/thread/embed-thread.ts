import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../platform/clock/clock.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { type EmbeddingKind, TextRefused } from '../provider.ts'
import type { NotePlan, NoteWork } from '../sync/plan-note.ts'
import type { FromEmbedThread, ToEmbedThread } from './messages.ts'

// In a bundle this module is part of the program, and the thread's own bundle lies beside it.
const FILE = import.meta.url.endsWith('.ts') ? './embed-worker.ts' : './embed-worker.mjs'
const HEAP_MB = 512
// With less, a third of the time went into collecting what a batch of notes had made, again and again.
const YOUNG_HEAP_MB = 24
// The model takes memory; it is read again in a tenth of a second.
const IDLE_MS = 300_000

interface Waiting {
  thread: Worker
  resolve(answer: FromEmbedThread): void
  reject(reason: unknown): void
}

type Question<Type> = Omit<Extract<ToEmbedThread, { type: Type }>, 'id'>
type Answer<Type> = Extract<FromEmbedThread, { type: Type }>

/** The thread may have died of what it was asked. */
export class ThreadDied extends AppError {
  constructor(cause: unknown) {
    super('unavailable', 'The thread that embeds texts ended: repeat the request', { cause })
    this.name = 'ThreadDied'
  }
}

/** One thread, started when it is needed and ended when it was not for a while. */
export class EmbedThread implements AsyncDisposable {
  readonly #clock: Clock
  readonly #waiting = new Map<number, Waiting>()
  #thread: Worker | undefined
  #cancelIdling: (() => void) | undefined
  #lastId = 0
  #isClosed = false

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock
  }

  /** By the model inside the product; one after the other. */
  async embed(texts: readonly string[], kind: EmbeddingKind = 'document'): Promise<Float32Array> {
    return (await this.#ask<'texts'>({ type: 'texts', texts, kind })).vectors
  }

  async plan(
    notes: readonly NoteWork[],
    hasVectors: boolean,
  ): Promise<{ plans: NotePlan[]; vectors: Uint8Array | null }> {
    return this.#ask<'notes'>({ type: 'notes', notes, hasVectors })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#cancelIdling?.()
    await this.#thread?.terminate()
  }

  async #ask<Type extends 'texts' | 'notes'>(question: Question<Type>): Promise<Answer<Type>> {
    if (this.#isClosed) throw new AppError('unavailable', 'Nothing is embedded any more: the server is stopping')
    const thread = this.#running()
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<FromEmbedThread>()
    this.#waiting.set(id, { thread, resolve, reject })
    thread.ref()
    thread.postMessage({ id, ...question })
    const answer = await promise
    if (answer.type === 'failed') throw new TextRefused(`The text could not be embedded: ${answer.message}`)
    return answer as Answer<Type>
  }

  #running(): Worker {
    this.#cancelIdling?.()
    this.#cancelIdling = undefined
    if (this.#thread !== undefined) return this.#thread
    const thread = new Worker(new URL(FILE, import.meta.url), {
      name: 'embedding',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    })
    let failure: unknown
    thread.on('message', (message: FromEmbedThread) => this.#hear(message))
    thread.once('error', (error) => {
      failure = error
    })
    thread.once('exit', () => this.#ended(thread, failure))
    this.#thread = thread
    return thread
  }

  #hear(message: FromEmbedThread): void {
    this.#waiting.get(message.id)?.resolve(message)
    this.#waiting.delete(message.id)
    if (this.#waiting.size > 0) return
    this.#thread?.unref()
    this.#cancelIdling?.()
    this.#cancelIdling = this.#clock.after(IDLE_MS, () => this.#retire())
  }

  /** Whoever asks from here on gets another one. */
  #retire(): void {
    if (this.#waiting.size > 0) return
    void this.#thread?.terminate()
    this.#thread = undefined
  }

  #ended(thread: Worker, failure: unknown): void {
    if (this.#thread === thread) this.#thread = undefined
    for (const [id, waiting] of this.#waiting) {
      if (waiting.thread !== thread) continue
      this.#waiting.delete(id)
      waiting.reject(new ThreadDied(failure))
    }
  }
}
