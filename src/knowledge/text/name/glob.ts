type Token = '*' | ((character: string) => boolean)

export type GlobMatcher = (text: string) => boolean

/** `*` is any text, `?` one character, `[a-z]` one of these, `[!a-z]` none of these. Upper and lower case differ. */
export function fileNameGlob(pattern: string): GlobMatcher {
  if (!/[?[]/.test(pattern)) return starGlob(pattern)
  const tokens: Token[] = []
  const characters = [...pattern]
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string
    const end = character === '[' ? closingBracket(characters, at) : -1
    if (character === '*') tokens.push('*')
    else if (character === '?') tokens.push(() => true)
    else if (end > 0) {
      tokens.push(oneOf(characters.slice(at + 1, end)))
      at = end
    } else tokens.push((other) => other === character)
  }
  return matcher(tokens)
}

/**
 * `*` is any text; everything else stands for itself. What is between two stars is looked for as a whole: comparing long names
 * character by character takes pattern times text, for very many of them.
 */
export function starGlob(pattern: string): GlobMatcher {
  const [first = '', ...between] = pattern.split('*')
  const last = between.pop()
  if (last === undefined) return (text) => text === first
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let end = first.length
    for (const piece of between) {
      const at = text.indexOf(piece, end)
      if (at < 0) return false
      end = at + piece.length
    }
    return end + last.length <= text.length
  }
}

/** A bracket right behind the opening one is meant. Without a closing one the opening one is text. */
function closingBracket(characters: readonly string[], open: number): number {
  const first = characters[open + 1] === '!' ? open + 2 : open + 1
  return characters.indexOf(']', first + 1)
}

function oneOf(inside: readonly string[]): (character: string) => boolean {
  const isNegated = inside[0] === '!'
  // Every character of very many names is looked up here.
  const single = new Set<string>()
  const ranges: [from: number, to: number][] = []
  const code = (text: string) => text.codePointAt(0) as number
  for (let at = isNegated ? 1 : 0; at < inside.length; at++) {
    const from = inside[at] as string
    if (inside[at + 1] === '-' && at + 2 < inside.length) {
      ranges.push([code(from), code(inside[at + 2] as string)])
      at += 2
    } else single.add(from)
  }
  const isInRange = (wanted: number) => ranges.some(([from, to]) => wanted >= from && wanted <= to)
  const isInside = (character: string) => single.has(character) || (ranges.length > 0 && isInRange(code(character)))
  return isNegated ? (character) => !isInside(character) : isInside
}

/** At a mismatch only the last star takes one character more, so the time is at most pattern times text. */
function matcher(tokens: readonly Token[]): GlobMatcher {
  return (text) => {
    const characters = [...text]
    let token = 0
    let star = -1
    let retryAt = 0
    for (let at = 0; at < characters.length; ) {
      const now = tokens[token]
      if (now === '*') {
        star = token++
        retryAt = at
      } else if (now?.(characters[at] as string)) {
        token++
        at++
      } else if (star >= 0) {
        token = star + 1
        at = ++retryAt
      } else return false
    }
    while (tokens[token] === '*') token++
    return token === tokens.length
  }
}
