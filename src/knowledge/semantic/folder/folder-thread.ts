import { Worker } from 'node:worker_threads'
import { AppError } from '../../../platform/errors/app-error.ts'
import { type EmbeddingKind, TextRefused } from '../provider.ts'

export interface FolderWork {
  id: number
  texts: readonly string[]
  kind: EmbeddingKind
}

export type FromFolderThread = { id: number } & (
  | { /** Of all texts, one after the other. */ vectors: Float32Array }
  /** A sentence, and whether other texts may be embedded all the same. */
  | { problem: string; isOfTexts: boolean }
)

// In a bundle this module is part of the program, and the thread's own bundle lies beside it.
const FILE = import.meta.url.endsWith('.ts') ? './folder-worker.ts' : './folder-worker.mjs'

/** The thread that has the model of a folder; another one is started where it ended. */
export class FolderThread implements AsyncDisposable {
  readonly #folder: string
  readonly #waiting = new Map<number, { resolve(vectors: Float32Array): void; reject(reason: AppError): void }>()
  #thread: Worker | undefined
  #lastId = 0
  #isClosed = false

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The vectors of all texts, one after the other. Questions go before documents. */
  async embed(texts: readonly string[], kind: EmbeddingKind): Promise<Float32Array> {
    if (this.#isClosed) throw new AppError('unavailable', 'Nothing is embedded any more: the server is stopping')
    this.#thread ??= this.#start()
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array>()
    this.#waiting.set(id, { resolve, reject })
    this.#thread.ref()
    this.#thread.postMessage({ id, texts, kind } satisfies FolderWork)
    return promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.#thread?.terminate()
  }

  #start(): Worker {
    const thread = new Worker(new URL(FILE, import.meta.url), {
      name: 'model folder',
      workerData: this.#folder,
      // What the process was started with is for the process: a module that is loaded first, a debugger.
      execArgv: [],
    })
    let failure: unknown
    thread.on('message', (message: FromFolderThread) => this.#hear(message))
    thread.once('error', (error) => {
      failure = error
    })
    thread.once('exit', () => {
      this.#thread = undefined
      // It may have ended of what it was asked.
      const ended = new TextRefused(`The thread with the model in ${this.#folder} ended`, failure)
      for (const { reject } of this.#waiting.values()) reject(ended)
      this.#waiting.clear()
    })
    return thread
  }

  #hear(message: FromFolderThread): void {
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    // Who has nothing more to ask may end.
    if (this.#waiting.size === 0) this.#thread?.unref()
    if ('vectors' in message) waiting?.resolve(message.vectors)
    else if (message.isOfTexts) waiting?.reject(new TextRefused(message.problem))
    else waiting?.reject(new AppError('unavailable', message.problem))
  }
}
