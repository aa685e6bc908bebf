// What most values consist of, and a socket takes as it is.
const PLAIN = /^[\t\x20-\x7e]*$/
// All control characters but the tab, which a value may hold.
const UNSENDABLE = /[^\P{Cc}\t]/gu

/** Whether a value can be sent as it is. */
export function isHeaderText(value: string): boolean {
  return PLAIN.test(value) || value.search(UNSENDABLE) < 0
}

export function hasControlCharacters(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

/** A value as a socket takes it: one character for each byte of its UTF-8 form, nothing that could end the line. */
export function headerText(value: string): string {
  if (PLAIN.test(value)) return value
  return Buffer.from(value.replace(UNSENDABLE, ' ')).toString('latin1')
}
