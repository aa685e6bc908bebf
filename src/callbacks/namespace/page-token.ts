import { AppError } from '../../platform/errors/app-error.ts'
import { parseId } from '../../platform/ids/uuid.ts'
import type { NamespaceId } from './namespace.ts'

/** Opaque to clients: they give back what they got. */
export function encodePageToken(id: NamespaceId): string {
  return Buffer.from(`1:${id}`).toString('base64url')
}

export function decodePageToken(token: string): NamespaceId {
  const text = token.length > 100 ? '' : Buffer.from(token, 'base64url').toString('latin1')
  const id = text.startsWith('1:') ? parseId<'Namespace'>(text.slice(2)) : undefined
  if (id !== undefined) return id
  throw new AppError(
    'invalid_argument',
    'nextPageToken is not one of this list: take it from the answer before, unchanged',
  )
}
