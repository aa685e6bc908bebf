import type { Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'

/** How far a caller has read, and when it was told so. */
export interface ChangesCursor {
  seq: number
  toldAt: Micros
}

const FORM = /^1:(\d{1,16}):(\d{1,16})$/

/** Opaque to clients: they give back what they got. */
export function encodeChangesCursor({ seq, toldAt }: ChangesCursor): string {
  return Buffer.from(`1:${seq}:${toldAt}`).toString('base64url')
}

export function decodeChangesCursor(cursor: string): ChangesCursor {
  // Longer than any of ours: not worth decoding.
  const match = cursor.length > 100 ? null : FORM.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  const [seq, toldAt] = (match?.slice(1) ?? []).map(Number)
  if (seq === undefined || toldAt === undefined || ![seq, toldAt].every(Number.isSafeInteger)) {
    throw new AppError(
      'invalid_argument',
      'This is not a cursor of the feed: give back `cursor` of an answer, or the id of an event, unchanged',
    )
  }
  return { seq, toldAt }
}
