const SHORTEST_PART = 13
const ONE_BYTE = /^[\0-\xff]*$/

/**
 * The same characters in memory of their own. V8 keeps a part of a text as a place in it, so whoever keeps a word of a book keeps the
 * book; only shorter parts than this are always copied.
 */
export function ownText(part: string): string {
  if (part.length < SHORTEST_PART) return part
  const encoding = ONE_BYTE.test(part) ? 'latin1' : 'utf16le'
  return Buffer.from(part, encoding).toString(encoding)
}
