// Of a message over RPC there may be 4 MiB, in JSON as in binary form; what is counted is the longer one, about.
const MOST_BYTES = 3 * 1024 * 1024

/** The first items of a page, as many as fit into an answer over any protocol; one always does. */
export function fittingItems<T>(items: readonly T[], bytesOf: (item: T) => number): T[] {
  let bytes = 0
  const end = items.findIndex((item, at) => {
    bytes += bytesOf(item)
    return at > 0 && bytes > MOST_BYTES
  })
  return items.slice(0, end < 0 ? items.length : end)
}

/** Of a text in JSON. */
export function textBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}

/** Of so many bytes in base64. */
export function base64Bytes(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}
