/**
 * Carries requests out in a thread of its own: what sockets, TLS and the reading of answers cost is not taken from whoever
 * waits for the server. All rules are the client's, which runs there as it does here. The thread begins with the first request.
 */
import { Worker } from 'node:worker_threads'
import { type Clock, SystemClock, settlesWithin } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import { OutageLog } from '../logging/outage-log.ts'
import { NotBegun } from './not-begun.ts'
import type { Exchanged, Outbound, OutboundRequest } from './outbound-request.ts'
import { requestHead } from './request-bytes.ts'
import { type FromOutboundThread, handedOver, RequestPack, unpackAnswers } from './thread-messages.ts'

export interface OutboundThreadOptions {
  log: Logger
  clock?: Clock
  /** Certificate authorities, as PEM, that are trusted besides those of the system. */
  extraCa?: readonly string[]
  /** For tests that end it. */
  startThread?: typeof startOutboundThread
}

interface Underway {
  request: OutboundRequest
  resolve: (exchanged: Exchanged) => void
  reject: (reason: unknown) => void
  giveUp: () => void
}

// To send a message of its own for each that is smaller would take longer than to send the request.
const LARGE_BYTES = 64 * 1024
// A thread that is told to close ends at once, unless it hangs.
const LONGEST_CLOSE_MS = 2_000
const FAILED = 'the thread that sends requests failed'

// In a bundle this module is part of the program, and the thread's own bundle lies beside it.
const FILE = import.meta.url.endsWith('.ts') ? './outbound-worker.ts' : './outbound-worker.mjs'

export function startOutboundThread(workerData: Pick<OutboundThreadOptions, 'extraCa'>): Worker {
  return new Worker(new URL(FILE, import.meta.url), {
    name: 'outbound',
    workerData,
    // What the process was started with is for the process: a module that is loaded first, a debugger.
    execArgv: [],
  })
}

export class OutboundThread implements Outbound {
  readonly #options: OutboundThreadOptions
  /** Of threads that cannot begin: each request that is tried begins one. */
  readonly #outage: OutageLog
  readonly #underWay = new Map<number, Underway>()
  #worker: Worker | undefined
  /** Until the thread can send. */
  #preparing: Promise<void> | null = null
  #lastId = 0
  #requests = new RequestPack()
  #givenUp: number[] = []
  #isPosting = false
  #closedBy: Error | null = null

  constructor(options: OutboundThreadOptions) {
    this.#options = options
    this.#outage = new OutageLog(options.log)
  }

  send(request: OutboundRequest): Promise<Exchanged> {
    const { signal } = request
    if (this.#closedBy !== null) return Promise.reject(this.#closedBy)
    if (signal?.aborted) return Promise.reject(signal.reason)
    let head: string
    try {
      head = requestHead(request)
    } catch (error) {
      return Promise.resolve({ error: error as Error, address: null })
    }
    // Those that go together lie in one piece of memory, which stays as long as any of them is under way.
    const isLarge = request.body.byteLength > LARGE_BYTES
    if (isLarge) this.#post()
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const giveUp = () => {
        this.#givenUp.push(id)
        this.#postSoon()
      }
      signal?.addEventListener('abort', giveUp)
      this.#underWay.set(id, { request, resolve, reject, giveUp })
      this.#requests.add(id, head, request)
      if (isLarge || this.#requests.isFull) this.#post()
      else this.#postSoon()
    })
  }

  preparing(): Promise<void> | null {
    if (this.#worker === undefined && this.#closedBy === null) this.#tryStart()
    return this.#preparing
  }

  async close(): Promise<void> {
    this.#closedBy ??= new Error('Nothing is sent any more: the server is stopping.')
    for (const id of this.#underWay.keys()) this.#take(id)?.reject(this.#closedBy)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('close')
    const { log, clock = new SystemClock() } = this.#options
    if (await settlesWithin(clock, LONGEST_CLOSE_MS, ended)) return
    log.warn('the thread that sends requests does not end and is terminated')
    await worker.terminate()
  }

  /** Those of one turn of the event loop go together, as far as they fit. */
  #postSoon(): void {
    if (this.#isPosting) return
    this.#isPosting = true
    setImmediate(() => {
      this.#isPosting = false
      this.#post()
    })
  }

  #post(): void {
    if (this.#closedBy !== null || this.#requests.length + this.#givenUp.length === 0) return
    const message = this.#requests.message(this.#givenUp)
    this.#forgetUnsent()
    const problem = this.#worker === undefined ? this.#tryStart() : null
    if (problem !== null) this.#breakOff(problem)
    else this.#worker?.postMessage(message, handedOver(message.bytes))
  }

  /** Why it cannot begin; null when it has. */
  #tryStart(): NotBegun | null {
    try {
      this.#worker = this.#start()
      return null
    } catch (error) {
      this.#outage.tell({ err: error }, FAILED)
      return new NotBegun(error)
    }
  }

  #forgetUnsent(): void {
    this.#requests = new RequestPack()
    this.#givenUp = []
  }

  #start(): Worker {
    const { extraCa, startThread = startOutboundThread } = this.#options
    const worker = startThread({ extraCa })
    const { promise: preparing, resolve: endPreparing } = Promise.withResolvers<void>()
    this.#preparing = preparing
    const ready = () => {
      this.#preparing = null
      endPreparing()
    }
    let isBegun = false
    let failure: Error | undefined
    worker.once('online', () => {
      isBegun = true
      this.#outage.over()
    })
    worker.on('message', (message: FromOutboundThread | 'ready') => {
      if (message === 'ready') ready()
      else this.#answer(message)
    })
    worker.on('error', (error: Error) => {
      failure = error
      this.#outage.tell({ err: error }, FAILED)
    })
    worker.on('exit', () => {
      this.#worker = undefined
      ready()
      this.#forgetUnsent()
      // Whether they arrived nobody knows, unless it never began; whoever asked for them decides whether to ask again.
      this.#breakOff(isBegun ? new Error('the request was broken off') : new NotBegun(failure))
    })
    return worker
  }

  #breakOff(error: Error): void {
    for (const id of this.#underWay.keys()) this.#take(id)?.resolve({ error, address: null })
  }

  #answer(message: FromOutboundThread): void {
    for (const [id, exchanged] of unpackAnswers(message)) {
      const underWay = this.#take(id)
      if (exchanged === undefined) underWay?.reject(underWay.request.signal?.reason)
      else underWay?.resolve(exchanged)
    }
  }

  #take(id: number): Underway | undefined {
    const found = this.#underWay.get(id)
    if (found === undefined) return undefined
    this.#underWay.delete(id)
    found.request.signal?.removeEventListener('abort', found.giveUp)
    return found
  }
}
