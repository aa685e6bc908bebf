// The content of a note is short enough that it never has so many parts, and 2^31 notes stay below 2^53.
const PARTS = 2 ** 20

/** The number of an observation or relation: stable as long as the text is. */
export function partId(noteId: number, position: number): number {
  return noteId * PARTS + position
}
