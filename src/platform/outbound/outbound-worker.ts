/** The program of the thread that owns the sockets to strangers. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { SystemClock } from '../clock/clock.ts'
import { OutboundClient } from './outbound-client.ts'
import type { Exchanged, OutboundRequest } from './outbound-request.ts'
import {
  joinBodies,
  MOST_TOGETHER,
  packAnswer,
  type SentAnswer,
  type ToOutboundThread,
  unpackRequest,
} from './thread-messages.ts'

const port = parentPort as MessagePort
const client = new OutboundClient({ clock: new SystemClock(), ...(workerData as object) })
const underWay = new Map<number, AbortController>()
let answers: SentAnswer[] = []
let bodies: Uint8Array[] = []
let isPosting = false

port.on('message', (message: ToOutboundThread | 'close') => {
  if (message === 'close') {
    void client.close().finally(() => process.exit())
    return
  }
  let at = 0
  for (const request of message.requests) {
    const end = at + request.bodyBytes
    send(request.id, unpackRequest(request, message.bodies.subarray(at, end)))
    at = end
  }
  for (const id of message.givenUp) underWay.get(id)?.abort()
})

function send(id: number, request: OutboundRequest): void {
  const controller = new AbortController()
  underWay.set(id, controller)
  client.send({ ...request, signal: controller.signal }).then(
    (exchanged) => answer(id, exchanged, request.isSuccessEnough && exchanged.answer?.status === 200),
    () => answer(id, null, true),
  )
}

/** `isPlain`: nobody reads the headers. */
function answer(id: number, exchanged: Exchanged | null, isPlain: boolean): void {
  underWay.delete(id)
  // Those of one turn of the event loop go together, as far as they fit.
  if (!isPosting) {
    isPosting = true
    setImmediate(() => {
      isPosting = false
      post()
    })
  }
  if (exchanged?.answer !== undefined) bodies.push(exchanged.answer.body)
  answers.push(
    exchanged === null
      ? { id, answer: null, error: null, address: null, bodyBytes: 0 }
      : packAnswer(id, exchanged, isPlain),
  )
  if (answers.length >= MOST_TOGETHER) post()
}

function post(): void {
  if (answers.length === 0) return
  const joined = joinBodies(bodies)
  port.postMessage({ answers, bodies: joined }, joined.byteLength === 0 ? [] : [joined.buffer as ArrayBuffer])
  answers = []
  bodies = []
}
