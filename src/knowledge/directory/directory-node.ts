import { toRfc3339 } from '../../platform/clock/clock.ts'
import { fileNameOf } from '../text/name/path.ts'
import type { FileRow } from './store-directory.ts'

/** `''` is the root. On the wire places begin with a slash. */
export function folderNode(folder: string) {
  return { name: fileNameOf(folder), directory_path: `/${folder}`, type: 'directory' as const }
}

export function fileNode(row: FileRow) {
  return {
    name: fileNameOf(row.file_path),
    directory_path: `/${row.file_path}`,
    type: 'file' as const,
    file_path: row.file_path,
    title: row.title,
    permalink: row.permalink,
    external_id: row.external_id,
    entity_id: row.id,
    note_type: row.note_type,
    content_type: 'text/markdown',
    updated_at: toRfc3339(row.updated_at),
  }
}

export type DirectoryNode = ReturnType<typeof folderNode> | ReturnType<typeof fileNode>
