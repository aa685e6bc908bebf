import type { Span } from './wikilinks.ts'

export interface ExplicitRelation {
  type: string
  context: string | null
}

/**
 * `type [[Target]] (context)`, where the type is one word or quoted; null for any other line, so that prose with a
 * link in it does not become a type of relation. `link` is the first link of the line.
 */
export function readExplicit(line: string, link: Span): ExplicitRelation | null {
  const type = readType(line, link.start)
  if (type === null) return null
  const tail = line.slice(link.end).trim()
  if (tail === '') return { type, context: null }
  if (!isOneGroup(tail)) return null
  return { type, context: tail.slice(1, -1).trim() || null }
}

function readType(line: string, end: number): string | null {
  // `![[X]]` embeds X.
  if (line[end - 1] === '!') return null
  const prefix = line.slice(0, end).trim()
  const first = prefix[0]
  // A check-box, a category or a tag before a link is no type.
  if (first === undefined || first === '[' || first === '#') return null
  if (first === '"' || first === "'") return quoted(prefix, first)
  return /\s/.test(prefix) ? null : prefix
}

function quoted(prefix: string, quote: string): string | null {
  const isClosed = prefix.length > 2 && prefix.indexOf(quote, 1) === prefix.length - 1
  return isClosed ? prefix.slice(1, -1).trim() || null : null
}

/** Whether the text is one pair of parentheses, with whatever balanced ones inside. */
function isOneGroup(text: string): boolean {
  if (text[0] !== '(') return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 40) depth++
    else if (code === 41 && --depth === 0) return at === text.length - 1
  }
  return false
}
