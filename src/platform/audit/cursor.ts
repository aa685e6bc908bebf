import { AppError } from '../errors/app-error.ts'
import type { AuditPosition } from './store.ts'

const FORM = /^1:(\d{1,16}):(\d{1,16})$/

/** Opaque to clients: they give back what they got. */
export function encodeCursor({ at, position }: AuditPosition): string {
  return Buffer.from(`1:${at}:${position}`).toString('base64url')
}

export function decodeCursor(cursor: string): AuditPosition {
  // Longer than any of ours: not worth decoding.
  const match = cursor.length > 64 ? null : FORM.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  const at = Number(match?.[1])
  const position = Number(match?.[2])
  if (match === null || !Number.isSafeInteger(at) || !Number.isSafeInteger(position)) {
    throw new AppError(
      'invalid_argument',
      'The cursor is not one of this list: take it from the answer before, unchanged',
    )
  }
  return { at, position }
}
