// Sends requests that differ, as fast as the answers come, and prints how many per second. Sockets by hand: a client that
// costs as much as the server would measure itself. Run by load.ts in a process of its own.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

export interface PostLoad {
  method?: 'GET' | 'POST' | 'PATCH'
  url: string
  /** A file with paths, one in a line: each request takes another of them instead of that of the address. */
  pathsFile?: string
  seconds: number
  connections: number
  headers: Record<string, string>
  /** `[<id>]`, also in the path, becomes another text in each request. */
  body: string
}

const {
  method = 'POST',
  url,
  pathsFile,
  seconds,
  connections,
  headers,
  body,
} = JSON.parse(process.argv[2] as string) as PostLoad
const { hostname, port, pathname } = new URL(url)
const paths =
  pathsFile === undefined ? [decodeURIComponent(pathname)] : readFileSync(pathsFile, 'utf8').trim().split('\n')
const fields = [
  `host: ${hostname}:${port}`,
  ...(method === 'GET' ? [] : ['content-type: application/json']),
  ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
].join('\r\n')
const prefix = `${process.pid.toString(36)}${Date.now().toString(36)}`
let sent = 0
let answered = 0
const began = performance.now()
const endAt = began + seconds * 1_000

await Promise.all(Array.from({ length: connections }, drive))
console.log(answered / ((performance.now() - began) / 1_000))

function drive(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    const send = () => {
      const id = `${prefix}${++sent}`
      const path = (paths[Math.floor(Math.random() * paths.length)] as string).replace('[<id>]', id)
      const text = body.replaceAll('[<id>]', id)
      const length = method === 'GET' ? '' : `content-length: ${Buffer.byteLength(text)}\r\n`
      socket.write(`${method} ${path} HTTP/1.1\r\n${fields}\r\n${length}\r\n${text}`)
    }
    socket.setEncoding('latin1').setNoDelay().once('connect', send).once('error', reject)
    socket.on('data', (chunk: string) => {
      received += chunk
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /\ncontent-length: (\d+)/i.exec(received)?.[1]
      if (!received.startsWith('HTTP/1.1 20') || length === undefined) return reject(new Error(received))
      if (received.length < end + 4 + Number(length)) return
      received = ''
      answered++
      if (performance.now() < endAt) return send()
      socket.destroy()
      resolve()
    })
  })
}
