import type { KnowledgeSettings } from '../settings.ts'
import { permalinkFor } from '../text/name/slug.ts'
import type { Note, Project } from './note.ts'

/** What a note at the path is called unless its text says otherwise; null while permalinks are switched off. */
export function ownPermalink(
  project: Project,
  settings: KnowledgeSettings,
  filePath: string,
  externalId: string,
): string | null {
  if (settings.disable_permalinks) return null
  return permalinkFor(project, filePath, externalId, settings.permalinks_include_project)
}

/** A note keeps its permalink when it moves, unless the settings say otherwise or it has none yet. */
export function permalinkAfterMove(
  project: Project,
  settings: KnowledgeSettings,
  before: Note,
  filePath: string,
): string | null {
  const isKept = before.permalink !== null && (before.file_path === filePath || !settings.update_permalinks_on_move)
  return isKept ? before.permalink : ownPermalink(project, settings, filePath, before.external_id)
}
