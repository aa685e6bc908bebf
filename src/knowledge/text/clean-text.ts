const BOM = '\uFEFF'

/** What every text goes through before it is looked at: nothing a database or a JSON answer could not hold. */
export function cleanText(raw: string): string {
  const text = dropUnstorable(raw)
  let start = 0
  while (text[start] === BOM) start++
  return start === 0 ? text : text.slice(start)
}

/** NUL characters go, halves of surrogate pairs become U+FFFD. */
export function dropUnstorable(raw: string): string {
  const text = raw.includes('\0') ? raw.replaceAll('\0', '') : raw
  return text.isWellFormed() ? text : text.toWellFormed()
}
