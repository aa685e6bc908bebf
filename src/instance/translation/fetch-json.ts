/**
 * How the feature reaches other servers: a GET whose answer is JSON. Follows no redirect, reads a bounded answer, gives
 * up after `timeoutMs`, and rejects for whatever is not a 200 with JSON. Whoever provides it decides which addresses may
 * be called.
 */
export type FetchJson = (
  url: string,
  options: { headers: Record<string, string>; timeoutMs: number },
) => Promise<unknown>
