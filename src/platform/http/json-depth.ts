/** Deeper than any document of ours, and shallow enough for code that walks a value by calling itself. */
export const MAX_DEPTH = 100

/** Whether JSON would nest deeper, judged before it is parsed. */
export function isTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH * 2) return false
  let depth = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inText) {
      if (char === 0x5c) i++
      else if (char === 0x22) inText = false
    } else if (char === 0x22) inText = true
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_DEPTH) return true
    } else if (char === 0x7d || char === 0x5d) depth--
  }
  return false
}
