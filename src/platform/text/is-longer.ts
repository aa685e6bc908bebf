/** Whether a text has more characters than that: code points, as JSON Schema counts them, not units of UTF-16. */
export function isLonger(text: string, most: number): boolean {
  if (text.length <= most) return false
  if (text.length > 2 * most) return true
  let count = 0
  for (const _ of text) count++
  return count > most
}
