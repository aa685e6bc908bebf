/** A place in a text that has something of the question. */
export interface Place {
  start: number
  end: number
  /** Which words of the question it has. */
  terms: number[]
  /** Where all of the phrase stands that it is a part of. */
  phrase?: { start: number; end: number }
}

/** So many are looked for in one text. */
export const MOST_PLACES = 300
