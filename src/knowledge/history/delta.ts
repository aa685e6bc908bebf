/** An older text as what the newer one has around it: the middle differs, the beginning and the end are shared. */
export interface Delta {
  /** How much of the newer text stands before and behind `middle`, in UTF-16 units. */
  head: number
  tail: number
  middle: string
}

// Texts are compared in blocks first: whether two of them are equal costs far less than a loop over their units.
const BLOCK = 4096

/** Null when the middle would be more than half of the older text: that one is better kept whole. */
export function deltaOf(older: string, newer: string): Delta | null {
  // The most frequent change by far: something was added at the end.
  if (newer.startsWith(older)) return { head: older.length, tail: 0, middle: '' }
  const shorter = Math.min(older.length, newer.length)
  const head = sharedHead(older, newer, shorter)
  const tail = sharedTail(older, newer, shorter - head)
  if ((older.length - head - tail) * 2 > older.length) return null
  return { head, tail, middle: older.slice(head, older.length - tail) }
}

export function applyDelta(newer: string, { head, tail, middle }: Delta): string {
  return newer.slice(0, head) + middle + newer.slice(newer.length - tail)
}

function sharedHead(a: string, b: string, limit: number): number {
  let length = 0
  while (length + BLOCK <= limit && a.slice(length, length + BLOCK) === b.slice(length, length + BLOCK)) length += BLOCK
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length++
  // NOTE A half of a surrogate pair is no text: storage would replace it.
  return length > 0 && isHighSurrogate(a.charCodeAt(length - 1)) ? length - 1 : length
}

function sharedTail(a: string, b: string, limit: number): number {
  let length = 0
  while (length + BLOCK <= limit && lastBlock(a, length) === lastBlock(b, length)) length += BLOCK
  while (length < limit && a.charCodeAt(a.length - length - 1) === b.charCodeAt(b.length - length - 1)) length++
  return length > 0 && isLowSurrogate(a.charCodeAt(a.length - length)) ? length - 1 : length
}

function lastBlock(text: string, skipped: number): string {
  return text.slice(text.length - skipped - BLOCK, text.length - skipped)
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
