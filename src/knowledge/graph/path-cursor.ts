import { AppError } from '../../platform/errors/app-error.ts'

/** Where the next page begins, and what was counted for the first one. */
export interface PathCursor {
  path: string
  total: number
}

// Unlike cursors of other lists.
const FORM = /^path:(\d{1,15}):/
// A path has at most 500 characters; nobody got a cursor as long as this from us.
const LONGEST = 4_000

/** Opaque to clients: they give back what they got. */
export function encodePathCursor({ path, total }: PathCursor): string {
  return Buffer.from(`path:${total}:${path}`).toString('base64url')
}

export function decodePathCursor(cursor: string): PathCursor {
  const text = cursor.length > LONGEST ? '' : Buffer.from(cursor, 'base64url').toString()
  const match = FORM.exec(text)
  // No path has a NUL, and PostgreSQL takes none.
  if (match === null || text.includes('\0')) {
    throw new AppError(
      'invalid_argument',
      'The cursor is not one of this list: take it from the answer before, unchanged',
    )
  }
  return { path: text.slice(match[0].length), total: Number(match[1]) }
}
