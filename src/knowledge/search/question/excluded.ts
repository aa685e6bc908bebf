import type { Node } from './question.ts'

/** What nothing that is found may have; null: nothing is excluded altogether. */
export function excludedOf(tree: Node | null): Node | null {
  const parts = tree?.kind === 'and' ? tree.parts : tree === null ? [] : [tree]
  const excluded = parts.flatMap((part) => (part.kind === 'not' ? [part.part] : []))
  return excluded.length > 1 ? { kind: 'or', parts: excluded } : (excluded[0] ?? null)
}
