import type { RowKind } from '../../search/row-number.ts'

/** A part of a note that has a vector of its own. */
export interface Chunk {
  kind: RowKind
  /** Of the observation or relation; 0 for the note. */
  position: number
  /** The n of the key `type:id:n`. */
  number: number
  /** What is embedded: title, headings, date and the part itself. */
  text: string
  /** Where the part stands in the content of the note, in UTF-16 units; both 0 for observations and relations. */
  start: number
  end: number
  /** SHA-256 of `text`. */
  hash: string
}
