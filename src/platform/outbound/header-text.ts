const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const NO_TEXT = /[^\t\x20-\x7e\x80-\xff]/

export function isHeaderName(text: string): boolean {
  return TOKEN.test(text)
}

/** Whether a line of HTTP/1.1 can hold it, one character for each byte: nothing that could end the line. */
export function isLineText(text: string): boolean {
  return !NO_TEXT.test(text)
}
