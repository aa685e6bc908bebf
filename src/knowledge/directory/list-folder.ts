import type { Reader } from '../../platform/storage/database.ts'
import type { GlobMatcher } from '../text/name/glob.ts'
import { fileNameOf } from '../text/name/path.ts'
import { type DirectoryNode, fileNode, folderNode } from './directory-node.ts'
import { SmallestItems } from './smallest-items.ts'
import { filesAt } from './store-directory.ts'
import { type FolderEntry, walkFolder } from './walk-folder.ts'

export type FolderSort = 'title_asc' | 'title_desc' | 'updated_asc' | 'updated_desc'

export interface FolderQuery {
  projectId: number
  /** '' is the root. */
  folder: string
  depth: number
  /** For files; folders are always listed. */
  glob: GlobMatcher | null
  /** By file name without it. */
  sort: FolderSort | null
  page: number
  pageSize: number
}

export interface FolderPage {
  nodes: DirectoryNode[]
  total: number
}

// Of a larger folder a page far behind is found in several walks, so that memory stays bounded.
const MOST_ITEMS = 50_000

/** Folders first, by path; then files in the wanted order. */
export async function listFolder(reader: Reader, query: FolderQuery, mostItems = MOST_ITEMS): Promise<FolderPage> {
  const { projectId, folder, depth, sort, glob, page, pageSize } = query
  const compare = comparison(sort)
  let floor: Item | null = null
  for (let skip = (page - 1) * pageSize; ; skip -= mostItems) {
    const isLastWalk = skip + pageSize <= mostItems
    const best = new SmallestItems(compare, isLastWalk ? skip + pageSize : mostItems)
    let total = 0
    for await (const entries of walkFolder(reader, { projectId, folder, depth, withDetails: sort !== null })) {
      for (const entry of entries) {
        if (!entry.isFolder && glob !== null && !glob(fileNameOf(entry.file_path))) continue
        total++
        const item = itemOf(entry, sort)
        if (floor === null || compare(item, floor) > 0) best.add(item)
      }
    }
    const items = best.sorted()
    if (isLastWalk) return { nodes: await nodesOf(reader, projectId, items.slice(skip)), total }
    if (total <= (page - 1) * pageSize) return { nodes: [], total }
    floor = items.at(-1) ?? null
  }
}

interface Item {
  isFolder: boolean
  key: string | number
  path: string
}

function itemOf(entry: FolderEntry, sort: FolderSort | null): Item {
  const { isFolder, file_path: path } = entry
  if (isFolder) return { isFolder, key: path.toLowerCase(), path }
  if (sort === null) return { isFolder, key: fileNameOf(path).toLowerCase(), path }
  const isByTitle = sort === 'title_asc' || sort === 'title_desc'
  return { isFolder, key: isByTitle ? (entry.title ?? '').toLowerCase() : (entry.updated_at ?? 0), path }
}

function comparison(sort: FolderSort | null): (a: Item, b: Item) => number {
  const direction = sort?.endsWith('_desc') ? -1 : 1
  return (a, b) => {
    if (a.isFolder !== b.isFolder) return a.isFolder ? -1 : 1
    if (a.key !== b.key) return (a.key < b.key ? -1 : 1) * (a.isFolder ? 1 : direction)
    return a.path < b.path ? -1 : a.path === b.path ? 0 : 1
  }
}

async function nodesOf(reader: Reader, projectId: number, items: readonly Item[]): Promise<DirectoryNode[]> {
  const paths = items.filter(({ isFolder }) => !isFolder).map(({ path }) => path)
  const files = await filesAt(reader, projectId, paths)
  return items.flatMap(({ isFolder, path }): DirectoryNode[] => {
    if (isFolder) return [folderNode(path)]
    const row = files.get(path)
    return row === undefined ? [] : [fileNode(row)]
  })
}
