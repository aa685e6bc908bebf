import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import pg from 'pg'

export interface Pooler extends AsyncDisposable {
  /** The same URL, through the pooler. */
  url: string
}

// What a server says to whoever may come in: that it is welcome, which process serves it (here: none that there is), and that it may ask.
const WELCOME = Buffer.from([
  ...[0x52, 0, 0, 0, 8, 0, 0, 0, 0],
  ...[0x4b, 0, 0, 0, 12, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1],
  ...[0x5a, 0, 0, 0, 5, 0x49],
])
const GOODBYE = 0x58

/** As PgBouncer with `pool_mode = transaction` and one connection to the server: whoever asks next is given it. */
export async function startPooler(url: string): Promise<Pooler> {
  const server = new pg.Client({ connectionString: url })
  server.on('error', () => {})
  await server.connect()
  const far = (server as unknown as { connection: { stream: Socket } }).connection.stream
  far.removeAllListeners('data')
  const clients = new Set<Socket>()
  let asking: Socket | undefined
  far.on('data', (data) => asking?.write(data))
  const pooler = createServer((near) => {
    clients.add(near)
    near.on('error', () => {})
    near.on('close', () => clients.delete(near))
    near.once('data', () => {
      near.write(WELCOME)
      near.on('data', (data) => {
        if (data[0] === GOODBYE) return void near.end()
        asking = near
        far.write(data)
      })
    })
  }).listen(0, '127.0.0.1')
  await once(pooler, 'listening')
  const { port } = pooler.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    async [Symbol.asyncDispose]() {
      pooler.close()
      for (const client of clients) client.destroy()
      far.destroy()
    },
  }
}
