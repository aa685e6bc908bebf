import { invalid } from '../wire/invalid.ts'
import { decodeText } from '../wire/parse-json.ts'

const LONGEST = 4_000

/** The place behind a destination in the list of them by name. Opaque to callers, who give it back. */
export function destinationToken(destination: string): Uint8Array {
  return new Uint8Array(Buffer.from(destination))
}

/** Empty for the first page. */
export function readDestinationToken(token: Uint8Array): string {
  if (token.length === 0) return ''
  const destination = token.length > LONGEST ? undefined : decodeText(token)
  if (destination?.startsWith('http') && !destination.includes('\0')) return destination
  throw invalid('next_page_token is not one of this list: take it from the page before, and change nothing else')
}
