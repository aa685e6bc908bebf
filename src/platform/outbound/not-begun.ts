const NAME = 'NotBegun'

/** Nothing was sent, and nothing is said about the other side: this process could not even try. */
export class NotBegun extends Error {
  constructor(cause: unknown) {
    super('no request can be sent right now', { cause })
    // By this it is known also when it comes from another thread.
    this.name = NAME
  }
}

// No further socket may be opened. Not ENOBUFS or ENOMEM: those may also end a request that is half sent.
const NO_SOCKET = new Set(['EMFILE', 'ENFILE'])
const DEEPEST_CAUSE = 8

/** Whether it failed before it began, for want of something that this machine has too little of. */
export function isNotBegun(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return false
  if (error.name === NAME || NO_SOCKET.has(String((error as NodeJS.ErrnoException).code))) return true
  const bundled: unknown[] = error instanceof AggregateError ? error.errors.slice(0, DEEPEST_CAUSE) : []
  return [error.cause, ...bundled].some((one) => isNotBegun(one, depth + 1))
}
