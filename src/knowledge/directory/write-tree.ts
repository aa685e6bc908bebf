import type { Reader } from '../../platform/storage/database.ts'
import { pathRanges } from '../graph/store-paths.ts'
import type { Chunk } from '../snapshot/snapshot-stream.ts'
import { fileNode } from './directory-node.ts'
import { filesOf, pathRowsFrom } from './store-directory.ts'
import { TreeJson } from './tree-json.ts'

const FILES_PER_CHUNK = 256
const PATHS_PER_CHUNK = 1_000

/** All folders and files, in the order of their paths. */
export async function* treeText(reader: Reader, projectId: number, size = FILES_PER_CHUNK): AsyncGenerator<Chunk> {
  const tree = new TreeJson()
  yield tree.begin()
  for await (const range of pathRanges(reader, projectId, { folder: null, after: null, size })) {
    let text = ''
    for (const row of await filesOf(reader, projectId, range)) text += tree.add(row.file_path, fileNode(row))
    yield text
  }
  yield tree.end()
}

/** All folders, without files. */
export async function* structureText(reader: Reader, projectId: number, size = PATHS_PER_CHUNK): AsyncGenerator<Chunk> {
  const tree = new TreeJson()
  yield tree.begin()
  for (let from: string | null = ''; from !== null; ) {
    const rows = await pathRowsFrom(reader, { projectId, from, limit: size + 1 }, false)
    let text = ''
    for (const { file_path } of rows) text += tree.add(file_path, null)
    yield text
    from = rows.length > size ? (rows.at(-1)?.file_path ?? null) : null
  }
  yield tree.end()
}
