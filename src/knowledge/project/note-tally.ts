/** The kept count of a project's notes. */
export function noteTally(projectId: number): string {
  return `notes:${projectId}`
}

/** The kept count of notes made on a day (`YYYY-MM-DD`, UTC), whatever became of them. */
export function createdNotesTally(date: string): string {
  return `notes.created:${date}`
}
