// More than any page has whose values are not deep. Those that are would become a hundred times as long.
const LONGEST = 8 * 1024 * 1024
const INDENT = 2
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]

/** JSON for people: indented, unless that would make far too much of it. */
export function indentedText(value: unknown): string {
  const compact = JSON.stringify(value)
  return isShortIndented(compact) ? JSON.stringify(value, null, INDENT) : compact
}

/** Each value begins a line. Brackets around nothing are counted as if they did, too. */
function isShortIndented(json: string): boolean {
  let length = json.length
  let depth = 0
  let inText = false
  for (let at = 0; at < json.length && length <= LONGEST; at++) {
    const code = json.charCodeAt(at)
    if (inText) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inText = false
    } else if (code === QUOTE) inText = true
    else if (code === COMMA) length += 1 + INDENT * depth
    else if (code === 0x7b || code === 0x5b) length += 1 + INDENT * ++depth
    else if (code === 0x7d || code === 0x5d) length += 1 + INDENT * --depth
  }
  return length <= LONGEST
}
