import { AppError, isAppError } from '../../../platform/errors/app-error.ts'
import { CHUNK_FORMAT } from '../chunk/chunk-note.ts'
import type { EmbeddingProvider } from '../provider.ts'
import type { EmbedThread } from '../thread/embed-thread.ts'
import { BuiltinModel } from './builtin-model.ts'
import type { ModelHeader } from './model-file.ts'

export const BUILTIN_NAME = 'commonplace'

// Of the texts that answer a question nearly all are above it, of the others half.
const MIN_SIMILARITY = 0.2
// Its own time is so short that asking for more at once gains nothing.
const TEXTS_AT_ONCE = 256

/** The model inside the product. Questions and texts differ only in what is not known of them. `unavailable` when its file is not there or no model. */
export function openBuiltinProvider(thread: EmbedThread, path?: string): EmbeddingProvider {
  const { version, dimensions } = headerOf(path)
  return {
    model: {
      provider: 'builtin',
      name: BUILTIN_NAME,
      version: `${version}.${CHUNK_FORMAT}`,
      dimensions,
      minSimilarity: MIN_SIMILARITY,
    },
    async embed(texts, kind, signal) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
        signal?.throwIfAborted()
        const part = texts.slice(from, from + TEXTS_AT_ONCE)
        const joined = await thread.embed(part, kind)
        for (let at = 0; at < part.length; at++) vectors.push(joined.slice(at * dimensions, (at + 1) * dimensions))
      }
      return vectors
    },
    // The thread belongs to who handed it over.
    async [Symbol.asyncDispose]() {},
  }
}

function headerOf(path: string | undefined): ModelHeader {
  try {
    return BuiltinModel.header(path)
  } catch (error) {
    const { message } = error as Error
    const reason = isAppError(error)
      ? message
      : `The built-in embedding model cannot be read (${message}); install the server again.`
    throw new AppError('unavailable', reason, { cause: error })
  }
}
