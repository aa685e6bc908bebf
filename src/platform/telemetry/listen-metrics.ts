import { once } from 'node:events'
import { listenFailure } from '../http/connection/listen-failure.ts'
import type { Metrics } from './metrics.ts'
import { createMetricsServer } from './metrics-server.ts'

/** `/metrics` on its own port until it is disposed of. */
export async function listenMetrics(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
): Promise<AsyncDisposable> {
  const server = createMetricsServer(metrics)
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw listenFailure(error, {
      host,
      port,
      what: 'The metrics port',
      setting: 'server.metrics_port',
      variable: 'COMMONPLACE_SERVER__METRICS_PORT',
    })
  }
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
