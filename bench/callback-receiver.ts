// Receives callbacks and counts them. `GET /count` answers how many came and when the first and the last of them did;
// `DELETE /count` begins anew. Run in a process of its own.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  count: number
  firstMs: number
  lastMs: number
}

let received: Received = { count: 0, firstMs: 0, lastMs: 0 }

const server = createServer((request, response) => {
  if (request.url === '/count') {
    response.end(JSON.stringify(received))
    if (request.method === 'DELETE') received = { count: 0, firstMs: 0, lastMs: 0 }
    return
  }
  request.resume()
  request.on('end', () => {
    const now = Date.now()
    if (received.count++ === 0) received.firstMs = now
    received.lastMs = now
    response.end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () =>
  console.log(`receiving at http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
