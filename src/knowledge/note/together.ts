/** Notes in their order, some at a time: so many characters together, or one that is longer. */
export function* together<Note extends { size: number }>(
  notes: readonly Note[],
  characters: number,
): Generator<Note[]> {
  let some: Note[] = []
  let size = 0
  for (const note of notes) {
    if (some.length > 0 && size + note.size > characters) {
      yield some
      some = []
      size = 0
    }
    some.push(note)
    size += note.size
  }
  if (some.length > 0) yield some
}
