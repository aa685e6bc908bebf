import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Metrics } from './metrics.ts'

/**
 * `/metrics` on a port of its own, without credentials: for networks where only the collector reaches that port.
 * The caller listens and closes.
 */
export function createMetricsServer(metrics: Metrics): Server {
  return createServer(
    { maxHeaderSize: 8192, requestTimeout: 10_000, keepAliveTimeout: 72_000 },
    (request, response) => {
      const path = (request.url ?? '/').split('?', 1)[0]
      if (path !== '/metrics') return answer(response, 404, { error: 'Not Found' })
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD')
        return answer(response, 405, { error: 'Method Not Allowed' })
      }
      metrics.render().then(
        ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
        () => answer(response, 500, { error: 'Internal Server Error' }),
      )
    },
  )
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}
