import type { RouteLabel } from '../connection/response.ts'
import type { HttpPlatform } from '../platform.ts'

/** The pattern is escaped here once, so that the access log can write it as it is. */
export function routeLabel(platform: Pick<HttpPlatform, 'metrics'>, operation: string, pattern: string): RouteLabel {
  const timings = platform.metrics.requests.of(operation)
  return {
    operation,
    pattern: JSON.stringify(pattern).slice(1, -1),
    observe: (status, milliseconds) => timings.observe(status, milliseconds),
  }
}
