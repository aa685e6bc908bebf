import { Histogram, type Registry } from 'prom-client'

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60]

/** For RpcDeps.observe: how long calls take and how they end, on both ports. */
export function observeCalls(registry: Registry): (method: string, code: string, seconds: number) => void {
  const calls = new Histogram({
    name: 'rpc_call_duration_seconds',
    help: 'Duration of RPC calls by method and status code.',
    labelNames: ['method', 'code'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  })
  return (method, code, seconds) => calls.observe({ method, code }, seconds)
}
