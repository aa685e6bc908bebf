/** The list, of what, that a service's JSON answer holds under a name; or what is wrong with the answer. */
export function answeredList(body: Uint8Array, name: string, what: string): unknown[] | string {
  let answer: unknown
  try {
    answer = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return 'did not answer with JSON'
  }
  const list = typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[name] : undefined
  return Array.isArray(list) ? list : `answered without a list of ${what}`
}
