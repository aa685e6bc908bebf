/** The text without blank lines around it; what is left is as it was, and no line ending is cut in half. */
export function trimBlankLines(text: string): string {
  let start = 0
  for (let at = 0; at < text.length && isBlank(text[at] as string); at++) if (text[at] === '\n') start = at + 1
  let end = text.length
  while (end > start && isBlank(text[end - 1] as string)) end--
  // Blanks at the end of the last line belong to it.
  return text.slice(start, end === start ? end : lineEnd(text, end))
}

/** Where the line that has this place in it ends, before its line ending. */
function lineEnd(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  if (newline === -1) return text.length
  return newline > from && text[newline - 1] === '\r' ? newline - 1 : newline
}

function isBlank(character: string): boolean {
  return character === '\n' || character === '\r' || character === ' ' || character === '\t'
}
