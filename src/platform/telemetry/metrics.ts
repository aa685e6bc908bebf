import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import { RequestTimings } from './request-timings.ts'

export { Counter, Gauge, Histogram, type Metric }

/** One registry per server, so that two servers in one test process do not share numbers. */
export interface Metrics {
  readonly registry: Registry
  readonly requests: RequestTimings
  /** Prometheus text, and its content type. */
  render(): Promise<{ contentType: string; text: string }>
}

export interface MetricsOptions {
  /** Memory, processor time, garbage collection and event-loop delay of this process. */
  process?: boolean
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  const requests = new RequestTimings()
  registry.registerMetric(requests as unknown as Metric)
  // The registry asks for the process's numbers when it is read; only the event-loop delay is sampled all the time.
  if (options.process !== false) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 })
  return {
    registry,
    requests,
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}
