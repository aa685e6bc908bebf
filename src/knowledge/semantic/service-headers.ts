/** What a service that embeds or sorts is sent besides its question. */
export function serviceHeaders(apiKey: string | null): ReadonlyMap<string, string> {
  const headers = new Map([
    ['accept', 'application/json'],
    ['content-type', 'application/json'],
  ])
  if (apiKey !== null) headers.set('authorization', `Bearer ${apiKey}`)
  return headers
}
