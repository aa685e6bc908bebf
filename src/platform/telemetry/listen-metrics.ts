import { once } from 'node:events'
import type { Metrics } from './metrics.ts'
import { createMetricsServer } from './metrics-server.ts'

/** `/metrics` on its own port until it is disposed of. */
export async function listenMetrics(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
): Promise<AsyncDisposable> {
  const server = createMetricsServer(metrics)
  server.listen({ host, port })
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
