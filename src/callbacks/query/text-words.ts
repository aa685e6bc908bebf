const WORD = /[\p{L}\p{M}\p{N}_]+/gu

/** The words of a Text, each once, in lower case: runs of letters, digits and underscores. */
export function textWords(text: string): string[] {
  const words = text.normalize('NFC').match(WORD) ?? []
  // NOTE Word by word: what stands behind a Greek sigma decides how it becomes small.
  return [...new Set(words.map((word) => word.toLowerCase()))]
}
