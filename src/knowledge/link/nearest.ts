import type { NoteRef } from '../note/note.ts'
import { folderOf } from '../text/name/path.ts'

const BELOW = 100
const ELSEWHERE = 1000

/** Of notes with one name, the one that a reader of the source would think of first. */
export function nearest(notes: readonly NoteRef[], sourcePath: string | null): NoteRef | undefined {
  if (notes.length < 2) return notes[0]
  const folder = sourcePath === null ? null : folderOf(sourcePath)
  const farness = (note: NoteRef) => (folder === null ? 0 : distance(folder, folderOf(note.file_path)))
  return notes
    .map((note) => ({ note, far: farness(note) }))
    .sort((a, b) => a.far - b.far || compareByPath(a.note, b.note))[0]?.note
}

/** Shorter paths first. */
export function compareByPath(a: NoteRef, b: NoteRef): number {
  return a.file_path.length - b.file_path.length || (a.file_path < b.file_path ? -1 : 1)
}

function distance(from: string, to: string): number {
  if (from === to) return 0
  if (isInside(from, to)) return depth(from) - depth(to)
  if (isInside(to, from)) return BELOW + depth(to) - depth(from)
  return ELSEWHERE
}

function isInside(folder: string, ancestor: string): boolean {
  return ancestor === '' || folder.startsWith(`${ancestor}/`)
}

function depth(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length
}
