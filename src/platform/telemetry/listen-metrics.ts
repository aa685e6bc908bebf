import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { hostAndPort } from '../http/connection/host-and-port.ts'
import { listenFailure } from '../http/connection/listen-failure.ts'
import type { Logger } from '../logging/logger.ts'
import type { Metrics } from './metrics.ts'
import { createMetricsServer } from './metrics-server.ts'

/** `/metrics` on its own port until it is disposed of. */
export async function listenMetrics(
  metrics: Metrics,
  { host, port, log }: { host: string; port: number; log: Logger },
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
  // Nobody knows a port that was any free one.
  log.info(`metrics are at http://${hostAndPort(host, (server.address() as AddressInfo).port)}/metrics`)
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
