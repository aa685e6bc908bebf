/** The program of the thread that owns the sockets to strangers. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { SystemClock } from '../clock/clock.ts'
import type { Exchange, Settle } from './exchange.ts'
import { OutboundClient } from './outbound-client.ts'
import type { Exchanged } from './outbound-request.ts'
import { AnswerPack, handedOver, MOST_TOGETHER, type ToOutboundThread, unpackRequests } from './thread-messages.ts'

const port = parentPort as MessagePort
const client = new OutboundClient({ clock: new SystemClock(), ...(workerData as object) })
const underWay = new Map<number, Exchange>()
let answers = new AnswerPack()
let isPosting = false

/** What came of one request goes back to who asked for it. */
class Answering implements Settle {
  readonly #id: number
  readonly #isSuccessEnough: boolean
  isOver = false

  constructor(id: number, isSuccessEnough: boolean) {
    this.#id = id
    this.#isSuccessEnough = isSuccessEnough
  }

  resolve(exchanged: Exchanged | null): void {
    this.isOver = true
    underWay.delete(this.#id)
    answers.add(this.#id, exchanged, this.#isSuccessEnough)
    if (answers.length >= MOST_TOGETHER) post()
    else postSoon()
  }

  reject(): void {
    this.resolve(null)
  }
}

await client.load()
port.on('message', (message: ToOutboundThread | 'close') => {
  if (message === 'close') {
    void client.close().finally(() => process.exit())
    return
  }
  for (const request of unpackRequests(message)) {
    const answering = new Answering(request.id, request.isSuccessEnough)
    const exchange = client.begin(request, answering)
    if (!answering.isOver) underWay.set(request.id, exchange)
  }
  for (const id of message.givenUp) underWay.get(id)?.abort(new Error('given up'))
})

port.postMessage('ready')

/** Those of one turn of the event loop go together, as far as they fit. */
function postSoon(): void {
  if (isPosting) return
  isPosting = true
  setImmediate(() => {
    isPosting = false
    post()
  })
}

function post(): void {
  if (answers.length === 0) return
  const message = answers.message()
  answers = new AnswerPack()
  port.postMessage(message, handedOver(message.bodies))
}
