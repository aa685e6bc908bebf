import { partId } from '../note/part-id.ts'

export const ROW_KINDS = { note: 0, observation: 1, relation: 2 } as const

export type RowKind = keyof typeof ROW_KINDS

/** By number. */
export const KIND_NAMES = Object.keys(ROW_KINDS) as readonly RowKind[]

/** There is room for one more kind than there are, so that rows keep their numbers when it comes. */
export const KINDS = 4
const ROWS_PER_NOTE = partId(1, 0) * KINDS

/** The number of a row in the index of words. All rows of a note lie side by side. */
export function rowNumber(kind: RowKind, noteId: number, position: number): number {
  return partId(noteId, position) * KINDS + ROW_KINDS[kind]
}

/** What `rowNumber` was made from. */
export function rowOf(number: number): { kind: RowKind; noteId: number; position: number } {
  const noteId = Math.floor(number / ROWS_PER_NOTE)
  const kind = KIND_NAMES[number % KINDS] as RowKind
  return { kind, noteId, position: Math.floor((number % ROWS_PER_NOTE) / KINDS) }
}

/** The rows of a note, both inclusive. */
export function rowRange(noteId: number): { first: number; last: number } {
  return { first: noteId * ROWS_PER_NOTE, last: (noteId + 1) * ROWS_PER_NOTE - 1 }
}
