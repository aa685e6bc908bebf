/** A note that is read, and the number of a change: its text is at least as new as that. */
export interface TriedNote {
  noteId: number
  seq: number
}

const MOST_DEATHS = 3

/** Notes whose texts ended the thread that read them. One that did so several times is left out until it is changed. */
export class DeadlyNotes {
  readonly #deaths = new Map<number, { count: number; seq: number }>()

  /** Up to which change each note must not be read. */
  get skip(): Map<number, number> {
    const given = [...this.#deaths].filter(([, { count }]) => count >= MOST_DEATHS)
    return new Map(given.map(([noteId, { seq }]) => [noteId, seq]))
  }

  /** Whether it is left out from now on. */
  add({ noteId, seq }: TriedNote): boolean {
    const count = (this.#deaths.get(noteId)?.count ?? 0) + 1
    this.#deaths.set(noteId, { count, seq })
    return count >= MOST_DEATHS
  }
}
