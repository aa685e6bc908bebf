/** The place itself, or the one before it where a surrogate pair would be cut in two. */
export function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
