/** The kept count of a project's notes. */
export function noteTally(projectId: number): string {
  return `notes:${projectId}`
}
