import type { Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'

/** How far a caller has read, and when it was told so. */
export interface ChangesCursor {
  seq: number
  toldAt: Micros
  /** The restore that the data came from by then: another one has given the numbers to other changes. */
  restore: string | null
}

// Of data that never were restored, it ends behind the time.
const FORM = /^1:(\d{1,16}):(\d{1,16})(?::([\da-f-]{36}))?$/

/** Opaque to clients: they give back what they got. */
export function encodeChangesCursor({ seq, toldAt, restore }: ChangesCursor): string {
  return Buffer.from(`1:${seq}:${toldAt}${restore === null ? '' : `:${restore}`}`).toString('base64url')
}

export function decodeChangesCursor(cursor: string): ChangesCursor {
  // Longer than any of ours: not worth decoding.
  const match = cursor.length > 100 ? null : FORM.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  const [seq, toldAt] = (match?.slice(1, 3) ?? []).map(Number)
  if (seq === undefined || toldAt === undefined || ![seq, toldAt].every(Number.isSafeInteger)) {
    throw new AppError(
      'invalid_argument',
      'This is not a cursor of the feed: give back `cursor` of an answer, or the id of an event, unchanged',
    )
  }
  return { seq, toldAt, restore: match?.[3] ?? null }
}
