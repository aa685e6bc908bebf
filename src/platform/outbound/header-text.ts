const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const NO_TEXT = /[^\t\x20-\x7e\x80-\xff]/

export function isHeaderName(text: string): boolean {
  return TOKEN.test(text)
}

/** Whether a line of HTTP/1.1 can hold it, one character for each byte: nothing that could end the line. */
export function isLineText(text: string): boolean {
  return !NO_TEXT.test(text)
}

export function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t'
}

/**
 * The rest of the text without blanks around it. Nothing else is left out: what `trim` takes for blanks may mean something to others. An
 * expression would look at blanks inside of it once for each of them.
 */
export function withoutBlanks(text: string, from: number): string {
  let start = from
  let end = text.length
  while (isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}
