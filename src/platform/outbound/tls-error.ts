/**
 * What OpenSSL says, in its own words and no more: around them its message has the number of a thread, which is an address in
 * the memory of this process, and a line of its sources.
 */
export function plainError(error: Error): Error {
  const { library, reason, code } = error as { library?: unknown; reason?: unknown; code?: unknown }
  if (typeof library !== 'string' || typeof reason !== 'string') return error
  return Object.assign(new Error(`TLS: ${reason}`), { code })
}
