import { AppError } from '../../platform/errors/app-error.ts'
import { cleanDestination, fileNameOf, hasFileType, joinPath } from '../text/name/path.ts'

const MARKDOWN = /\.md$/i

/** Where a note shall go: a trailing slash means that folder under its own name; `.md` may be left out. */
export function destinationOf(wanted: string, currentPath: string): string {
  const isFolder = /[/\\]\s*$/.test(wanted)
  const clean = cleanDestination(wanted)
  if (isFolder) return joinPath(clean, fileNameOf(currentPath))
  if (MARKDOWN.test(clean)) return clean
  if (hasFileType(clean)) {
    throw new AppError('invalid_argument', `Invalid destination path '${clean}': a note's file name ends in .md`)
  }
  return `${clean}.md`
}
