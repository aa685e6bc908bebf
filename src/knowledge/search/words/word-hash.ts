// Of the same text: one that is kept in the index, and a second one for marks.
export const FNV_START = 0x811c9dc5 | 0
export const FNV_PRIME = 0x01000193
export const OTHER_PRIME = 0x9e3779b1 | 0

/** FNV-1a over the code units. */
export function hashOf(mark: string, word: string): number {
  return fold(fold(FNV_START, mark), word) >>> 0
}

export function fold(start: number, text: string, prime = FNV_PRIME): number {
  let hash = start
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime)
  return hash
}

// What tells the hashes of words, of stems and of beginnings of words apart.
export const WORD = ''
export const STEM = '+'
export const BEGINNING = '^'
