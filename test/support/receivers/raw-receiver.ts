import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Inbox } from './inbox.ts'

export interface RawConnection {
  socket: Socket
  /** Resolves when a whole request without body, or with a body that came along, is in; answers its head. */
  request: Promise<string>
  closed: Promise<void>
}

export interface RawReceiver extends AsyncDisposable {
  url: string
  port: number
  connections: Inbox<RawConnection>
}

/** A receiver that sends bytes as told instead of HTTP. `onRequest` is called for every request on every connection. */
export async function startRawReceiver(onRequest: (socket: Socket, count: number) => void): Promise<RawReceiver> {
  const connections = new Inbox<RawConnection>()
  const open = new Set<Socket>()
  let count = 0
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    const { promise: request, resolve } = Promise.withResolvers<string>()
    const closed = new Promise<void>((done) => socket.once('close', () => done()))
    let received = ''
    socket.on('data', (data) => {
      received += data.toString('latin1')
      const end = endOfRequest(received)
      if (end === undefined) return
      resolve(received.slice(0, end))
      received = received.slice(end)
      onRequest(socket, count++)
    })
    socket.once('close', () => open.delete(socket))
    connections.add({ socket, request, closed })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    connections,
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

/** Our own requests always say how long their body is. */
function endOfRequest(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, head + 2))?.[1]
  const end = head + 4 + Number(length ?? 0)
  return text.length < end ? undefined : end
}
