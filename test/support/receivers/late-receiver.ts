import { once } from 'node:events'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'

// Longer than the time that Node itself gives an address; less than until a first packet that was dropped is sent again.
const LATE_MS = 400

// A full queue of connections is what makes the system drop those who come, as a bad line would.
const PROGRAM = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:http').createServer((_request, response) => response.end())
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => parentPort.postMessage(server.address().port))
  const nobody = new Int32Array(new SharedArrayBuffer(4))
  parentPort.on('message', () => Atomics.wait(nobody, 0, 0, ${LATE_MS}))`

/** A receiver whose first connection stands only when its first packet was sent a second time, after about a second. */
export async function startLateReceiver(): Promise<AsyncDisposable & { port: number }> {
  const worker = new Worker(PROGRAM, { eval: true })
  const [port] = (await once(worker, 'message')) as [number]
  worker.postMessage('be late')
  const queued = [1, 2, 3].map(() => connect(port, '127.0.0.1').on('error', () => {}))
  // On Linux a queue of one holds two.
  await Promise.all(queued.slice(0, 2).map((socket) => once(socket, 'connect')))
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of queued) socket.destroy()
      await worker.terminate()
    },
  }
}
