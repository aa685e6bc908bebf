/** A note that the first stage found, by words or by vectors, with what the order is made from. */
export interface Candidate {
  noteId: number
  title: string
  /** The note's content. */
  text: string
  /** Words that the note is filed under: its tags, and its path and permalink. Absent: none. */
  tags?: string
  place?: string
  /** Cosine of its nearest chunk by the provider's vectors; absent when it is not among the nearest, or in text mode. */
  similarity?: number
  /** It has no vectors yet, so that it could not be among the nearest. */
  isAwaited?: boolean
}

/** What the index knows of the project. */
export interface CollectionStatistics {
  /** How many notes the project has. */
  notes: number
  /** By word of `rankedWords(question)`: how many notes have it or another form of it. One that is missing is counted in the candidates. */
  holding?: ReadonlyMap<string, number>
}

export interface RankedNote {
  noteId: number
  /** From 0 to 1, comparable between questions: near 1 when every word of the question stands in the title and close together in the text. */
  score: number
  /** The part of the text that answers best, as offsets; 0 to 0 when none does. */
  passage: { start: number; end: number }
}
