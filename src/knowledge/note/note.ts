import type { NoteRow } from '../tables.ts'

/** The container of notes, as every part of the feature passes it around. */
export interface Project {
  id: number
  externalId: string
  name: string
  /** Slug of the name: what permalinks begin with. */
  permalink: string
  /** What it was before, as long as notes may have permalinks that begin so: the last one first, with a slash between two. */
  formerPermalinks: string
}

/** A row of `notes`, without its text. */
export type Note = NoteRow

/** A note and its whole text, frontmatter included. */
export type NoteWithContent = Note & { content: string }

/** Enough of a note to name it in an answer and to compare names with. */
export type NoteRef = Pick<Note, 'id' | 'external_id' | 'title' | 'permalink' | 'file_path'>
