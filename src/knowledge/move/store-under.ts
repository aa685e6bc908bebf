import type { Reader } from '../../platform/storage/database.ts'
import '../tables.ts'
import { folderBounds } from '../text/name/path.ts'

export interface PlacedNote {
  id: number
  file_path: string
}

/** Every note under a folder, by path. Compared by code points on both engines, so the folder is one range. */
export function notesUnder(reader: Reader, projectId: number, directory: string): Promise<PlacedNote[]> {
  const { lower, upper } = folderBounds(directory)
  return reader.query
    .selectFrom('notes')
    .select(['id', 'file_path'])
    .where('project_id', '=', projectId)
    .where('file_path', '>', lower)
    .where('file_path', '<', upper)
    .orderBy('file_path')
    .execute()
}
