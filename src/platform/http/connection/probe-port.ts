import { request } from 'node:http'
import { createServer } from 'node:net'

const ANSWER_WITHIN_MS = 2_000

export type PortState = 'free' | 'in use' | 'denied' | 'no such address'

/** Whether this process could listen there right now. */
export function probePort(host: string, port: number): Promise<PortState> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve('in use')
      else resolve(error.code === 'EACCES' || error.code === 'EPERM' ? 'denied' : 'no such address')
    })
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve('free')))
  })
}

/** The status that a server of ours answers `GET /readyz` with; null when what listens there is none. */
export function askReadiness(host: string, port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const asked = request({ host: reachable(host), port, path: '/readyz', timeout: ANSWER_WITHIN_MS }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text
        if (body.length > 1_000) asked.destroy()
      })
      answer.once('close', () => resolve(/^\{"status":/.test(body) ? (answer.statusCode ?? null) : null))
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(null))
    asked.end()
  })
}

/** Where a server that listens on every address can be spoken to from here. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
