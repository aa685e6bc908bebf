import type { Static } from 'typebox'
import { dropUnstorable } from '../text/clean-text.ts'
import { fileNameGlob } from '../text/name/glob.ts'
import type { FolderQuery } from './list-folder.ts'
import type { FolderFilters } from './schema-directory.ts'

export function folderQueryOf(projectId: number, filters: Static<typeof FolderFilters>): FolderQuery {
  const { dir_name = '/', depth = 1, file_name_glob: glob, sort = null, page = 1, page_size: pageSize = 10 } = filters
  return {
    projectId,
    folder: folderNamed(dir_name),
    depth,
    glob: glob === undefined ? null : fileNameGlob(glob.normalize('NFC')),
    sort,
    page,
    pageSize,
  }
}

// No folder is called so, and no path leads out of a project.
const NO_FOLDER = '..'

/** However its slashes are written. What names no folder of ours is a folder without anything in it. */
function folderNamed(text: string): string {
  const folder = namesIn(dropUnstorable(text).normalize('NFC')).join('/')
  // A name of which nothing can be stored is nobody's, and least of all the root's.
  return folder === '' && namesIn(text).length > 0 ? NO_FOLDER : folder
}

function namesIn(path: string): string[] {
  return path
    .trim()
    .split(/[/\\]/)
    .filter((segment) => segment !== '' && segment !== '.')
}
