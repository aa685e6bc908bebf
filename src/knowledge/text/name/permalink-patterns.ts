import { slug } from './slug.ts'

/**
 * What a pattern with `*` may mean: itself, and what a permalink is made of where it is written as folders and titles are, each
 * also behind the project, which may be left out.
 */
export function permalinkPatterns(projectPermalink: string, pattern: string): string[] {
  const begin = `${projectPermalink}/`
  return [...new Set([pattern, slugPattern(pattern)])].flatMap((one) =>
    one.startsWith(begin) || one.startsWith('*') ? [one] : [one, `${begin}${one}`],
  )
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
