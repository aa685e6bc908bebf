/** What strangers sent, fit to be kept: no control characters but line end and tab, at most so many bytes of UTF-8. */
export function shortText(text: string, maxBytes: number): string {
  // No character is shorter than a byte: what lies beyond cannot be part of the answer.
  const clean = text
    .slice(0, maxBytes)
    .toWellFormed()
    .replace(/[^\P{Cc}\t\n]/gu, ' ')
  const bytes = Buffer.from(clean)
  return bytes.length <= maxBytes ? clean : decodeStart(bytes, maxBytes)
}

/** The text of the first bytes; a character that they cut in two is left out. */
export function decodeStart(bytes: Uint8Array, maxBytes: number): string {
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
}
