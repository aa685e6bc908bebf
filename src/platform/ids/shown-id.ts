const LONGEST_SHOWN = 100
const HALF_AT_END = /[\ud800-\udbff]$/

/** As an error may repeat it: a caller can send an id of any length, and JSON with half of a character is refused by many readers. */
export function shownId(text: string): string {
  if (text.length <= LONGEST_SHOWN) return text.toWellFormed()
  return `${text.slice(0, LONGEST_SHOWN).replace(HALF_AT_END, '').toWellFormed()}…`
}
