import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy extends AsyncDisposable {
  /** The same URL, through the proxy. */
  url: string
  /** From here on nothing arrives any more, and nobody is told: as when a machine or a cable is gone. */
  fallSilent(): void
  /** The same for the connections there are: as when another machine takes over. Those made later work. */
  forgetConnections(): void
  /** Comes behind what the server says next, in the same packet. */
  addToNext(data: Buffer): void
  /** The server refuses what it is told next with these words in it. */
  garbleNext(words: string): void
  /** The next commit behind a statement with these words arrives, and its answer does not: the connection breaks instead. */
  loseCommitBehind(words: string): void
  /** Whoever is connected, or connects from here on, is hung up on: as while a server restarts. */
  hangUp(): void
  /** What was held back arrives, and who connects is served. */
  speakAgain(): void
}

export async function startTcpProxy(url: string): Promise<TcpProxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let isSilent = false
  let isHungUp = false
  let added: Buffer | undefined
  let garbled: string | undefined
  let losing: string | undefined
  const server = createServer((near) => {
    if (isHungUp) return void near.destroy()
    const far = connect(Number(target.port), target.hostname)
    /** What has to be said on this connection before its next answer is lost. */
    let lostBehind: string | undefined
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('data', (data) => {
        if (socket === far && lostBehind === '') return void near.destroy()
        if (socket === near && losing !== undefined && data.includes(losing)) {
          losing = undefined
          lostBehind = 'commit'
        }
        if (socket === near && lostBehind && data.includes(lostBehind)) lostBehind = ''
        const more = socket === far ? added : undefined
        if (more !== undefined) added = undefined
        const at = socket === far || garbled === undefined ? -1 : data.indexOf(garbled)
        if (at >= 0) {
          data.write('?', at)
          garbled = undefined
        }
        other.write(more === undefined ? data : Buffer.concat([data, more]))
      })
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      if (isSilent) socket.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    fallSilent() {
      isSilent = true
      for (const socket of sockets) socket.pause()
    },
    forgetConnections() {
      for (const socket of sockets) socket.pause()
    },
    addToNext(data) {
      added = data
    },
    garbleNext(words) {
      garbled = words
    },
    loseCommitBehind(words) {
      losing = words
    },
    hangUp() {
      isHungUp = true
      for (const socket of sockets) socket.destroy()
    },
    speakAgain() {
      isSilent = false
      isHungUp = false
      for (const socket of sockets) socket.resume()
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
