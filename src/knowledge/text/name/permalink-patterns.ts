import { slug } from './slug.ts'

/**
 * What a pattern with `*` may mean: itself, and what a permalink is made of where it is written as folders and titles are, each
 * also behind the project, which may be left out: behind each of the prefixes that permalinks in it begin with.
 */
export function permalinkPatterns(prefixes: readonly string[], pattern: string): string[] {
  return [...new Set([pattern, slugPattern(pattern)])].flatMap((one) =>
    one.startsWith('*') ? [one] : [one, ...behind(prefixes, one)],
  )
}

/** None is repeated: a path that begins with the name of the project is a permalink as it is. */
function behind(prefixes: readonly string[], pattern: string): string[] {
  return prefixes.filter((prefix) => !pattern.startsWith(prefix)).map((prefix) => prefix + pattern)
}

function slugPattern(pattern: string): string {
  return pattern
    .split('/')
    .map((segment) => segment.split('*').map(slugPiece).join('*'))
    .join('/')
}

/** A hyphen at an end of it stands between words: the rest of them is behind the star. */
function slugPiece(piece: string): string {
  const made = slug(piece)
  if (made === '') return piece
  return `${/^[-_\s]/.test(piece) ? '-' : ''}${made}${/[-_\s]$/.test(piece) ? '-' : ''}`
}
