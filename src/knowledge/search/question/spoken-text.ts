import type { Token } from './read-tokens.ts'

/** What a question says, as it was written: without operators, brackets and tags, and without what stands behind NOT. */
export function spokenText(tokens: readonly Token[]): string {
  const said: string[] = []
  /** Of each bracket that is open: whether what stands around it is excluded. */
  const around: boolean[] = []
  let isExcluded = false
  let isNegated = false
  for (const token of tokens) {
    if (token.kind === 'operator') {
      isNegated = token.operator === 'NOT' && !isNegated
      continue
    }
    if (token.kind === '(') {
      around.push(isExcluded)
      isExcluded ||= isNegated
    } else if (token.kind === ')') isExcluded = around.pop() ?? false
    else if (token.kind !== 'tags' && !isExcluded && !isNegated) said.push(token.text)
    isNegated = false
  }
  return said.join(' ')
}
