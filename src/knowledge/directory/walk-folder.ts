import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../platform/storage/database.ts'
import { type PathRow, pathRowsFrom } from './store-directory.ts'

export interface FolderEntry extends PathRow {
  isFolder: boolean
}

export interface WalkOptions {
  projectId: number
  /** '' is the root. */
  folder: string
  /** How many levels below the folder are of interest. */
  depth: number
  /** Whether titles and times are needed; paths alone come out of the index. */
  withDetails: boolean
}

const SMALLEST_READ = 16
const LARGEST_READ = 1_000

/**
 * Folders are not stored: they are what paths begin with. The paths of a folder stand together in the index, so what
 * is deeper than asked for is jumped over: a folder with a million notes below it costs as much as one with a few.
 * Reads grow while all they find is of use, and shrink when they run into something to jump over.
 */
export async function* walkFolder(reader: Reader, options: WalkOptions): AsyncGenerator<FolderEntry[]> {
  const { projectId, folder, depth, withDetails } = options
  const root = folder === '' ? '' : `${folder}/`
  let from = root
  let size = SMALLEST_READ
  let known = ''
  let done = ''
  for (;;) {
    const rows = await pathRowsFrom(reader, { projectId, from, limit: size }, withDetails)
    const entries: FolderEntry[] = []
    let skipped = ''
    for (const row of rows) {
      const path = row.file_path
      if (!path.startsWith(root)) {
        yield entries
        return
      }
      if (path === done || (skipped !== '' && path.startsWith(skipped))) continue
      skipped = ''
      const { folders, isDeeper } = foldersOf(path, root.length, depth)
      for (const one of folders) {
        if (known.startsWith(one)) continue
        entries.push({ file_path: one.slice(0, -1), isFolder: true })
      }
      known = folders.at(-1) ?? ''
      if (isDeeper) skipped = known
      else entries.push({ ...row, isFolder: false })
    }
    yield entries
    const last = rows.at(-1)
    if (last === undefined || rows.length < size) return
    done = last.file_path
    from = skipped === '' ? done : `${skipped.slice(0, -1)}0`
    size = skipped === '' ? Math.min(LARGEST_READ, size * 2) : Math.max(SMALLEST_READ, size >> 1)
    await nextTurn()
  }
}

/** The folders on the way to a path, each with a slash at its end, and whether the path goes on below the last. */
function foldersOf(path: string, start: number, depth: number): { folders: string[]; isDeeper: boolean } {
  const folders: string[] = []
  for (let slash = path.indexOf('/', start); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    folders.push(path.slice(0, slash + 1))
    if (folders.length === depth) return { folders, isDeeper: true }
  }
  return { folders, isDeeper: false }
}
