/** How long to wait before the next try. Delays grow by `coefficient` and stay within [`initialMs`, `maxMs`]. */
export interface Backoff {
  initialMs: number
  maxMs: number
  coefficient: number
  /** Share of the delay that is left to chance, 0 to 1, so that jobs that failed together do not return together. */
  jitter: number
}

export const DEFAULT_BACKOFF: Backoff = { initialMs: 1_000, maxMs: 15 * 60_000, coefficient: 2, jitter: 0.2 }

/** `attempt` counts from 1, the try that has just failed. `random` answers numbers in [0, 1). */
export function retryDelayMs(attempt: number, backoff: Backoff, random: () => number = Math.random): number {
  // The exponent is capped because coefficient ** 1e6 is Infinity, and Infinity times a coefficient below 1 is NaN.
  const exponent = Math.min(Math.max(attempt, 1) - 1, 1_000)
  const full = Math.min(backoff.maxMs, backoff.initialMs * backoff.coefficient ** exponent)
  return Math.round(full * (1 - backoff.jitter * random()))
}
