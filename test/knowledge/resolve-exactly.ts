import { resolveAsks } from '../../src/knowledge/link/resolve-exactly.ts'
import type { NoteRef, Project } from '../../src/knowledge/note/note.ts'
import type { Reader } from '../../src/platform/storage/database.ts'

/** The notes that texts of one note mean, in the order of the texts; null where no note has the name. */
export async function resolveExactly(
  reader: Reader,
  project: Project,
  sourcePath: string | null,
  targets: readonly { target: string; name: string }[],
): Promise<(NoteRef | null)[]> {
  const asks = targets.map(({ target, name }) => ({ target, name, sourcePath }))
  const choices = await resolveAsks(reader, project, asks)
  return choices.map((choice) => (choice !== null && 'note' in choice ? choice.note : null))
}
