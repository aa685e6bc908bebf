import { readTags } from '../../text/frontmatter/tags.ts'
import type { Token } from './read-tokens.ts'

export interface TakenTags {
  /** What remains. */
  tokens: Token[]
  /** Notes must have all of these. */
  tags: string[]
  /** Of each of these lists notes must not have all. */
  excluded: string[][]
}

/** Takes `tag:a,b` out of a question, and with it what denies it: they say which notes, not which words. */
export function takeTags(written: readonly Token[]): TakenTags {
  const tokens: Token[] = []
  const wanted: string[] = []
  const excluded: string[][] = []
  /** Of each bracket that is open: whether what stands around it is denied. */
  const around: boolean[] = []
  let isDenied = false
  for (const token of written) {
    const denials = token.kind === '(' || token.kind === 'tags' ? denialsAtEnd(tokens) : 0
    const isOpposite: boolean = isDenied !== (denials % 2 === 1)
    if (token.kind === 'tags') {
      tokens.length -= denials
      if (isOpposite) excluded.push(readTags([token.text]))
      else wanted.push(token.text)
      continue
    }
    if (token.kind === '(') {
      around.push(isDenied)
      isDenied = isOpposite
    } else if (token.kind === ')') isDenied = around.pop() ?? false
    tokens.push(token)
  }
  return { tokens, tags: readTags(wanted), excluded: excluded.filter(({ length }) => length > 0) }
}

function denialsAtEnd(tokens: readonly Token[]): number {
  const last = tokens.findLastIndex((token) => token.kind !== 'operator' || token.operator !== 'NOT')
  return tokens.length - 1 - last
}
