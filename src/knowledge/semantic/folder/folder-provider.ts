import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { AppError } from '../../../platform/errors/app-error.ts'
import { CHUNK_FORMAT } from '../chunk/chunk-note.ts'
import { inBatches } from '../in-batches.ts'
import type { EmbeddingProvider } from '../provider.ts'
import { unitVector } from '../unit-vector.ts'
import { FolderThread } from './folder-thread.ts'

// On one machine more at a time only makes all of them slower.
const CALLS_AT_ONCE = 1
const MOST_CHARACTERS = 100_000
const MIN_SIMILARITY = 0.3
const PACKAGES = 'node_modules'

export interface FolderOptions {
  folder: string
  batchSize: number
}

/** A model that the operator has put into a folder. */
export async function openFolderProvider(options: FolderOptions): Promise<EmbeddingProvider> {
  const folder = resolve(options.folder)
  const version = fingerprintOf(folder)
  const thread = new FolderThread(folder)
  let dimensions: number
  try {
    dimensions = (await thread.embed(['dimensions'], 'document')).length
  } catch (error) {
    await thread[Symbol.asyncDispose]()
    throw error
  }
  return {
    model: {
      provider: 'folder',
      name: folderModelName(folder),
      version: `${version}.${CHUNK_FORMAT}`,
      dimensions,
      minSimilarity: MIN_SIMILARITY,
    },
    embed(texts, kind, signal) {
      const limit = { texts: options.batchSize, characters: MOST_CHARACTERS, atOnce: CALLS_AT_ONCE }
      return inBatches(texts, limit, async (batch) => {
        signal?.throwIfAborted()
        const joined = await thread.embed(batch, kind)
        return batch.map((_, at) =>
          unitVector(joined.subarray(at * dimensions, (at + 1) * dimensions), `The model in ${folder}`),
        )
      })
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  }
}

export function folderModelName(folder: string): string {
  return basename(resolve(folder))
}

/** Names and sizes of its files, and what its configuration says: another one with the same name has another. */
function fingerprintOf(folder: string): string {
  try {
    const hash = createHash('sha256').update(readFileSync(join(folder, 'config.json')))
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const files = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
    for (const file of files) {
      const path = file.slice(folder.length)
      if (!path.includes(PACKAGES)) hash.update(`${path}\n${statSync(file).size}\n`)
    }
    return hash.digest('hex').slice(0, 12)
  } catch (error) {
    const message = `${folder} holds no model (there must be a config.json): correct knowledge.embedding_folder`
    throw new AppError('unavailable', message, { cause: error })
  }
}
