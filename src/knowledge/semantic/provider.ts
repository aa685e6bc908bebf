import { AppError } from '../../platform/errors/app-error.ts'

/** What makes vectors of texts. */
export interface EmbeddingModel {
  provider: 'builtin' | 'openai' | 'folder'
  name: string
  /** Of the model and of how its input is made; vectors of another one cannot be compared. */
  version: string
  dimensions: number
  /** The similarity below which a text says nothing about the question. */
  minSimilarity: number
}

export type EmbeddingKind = 'query' | 'document'

export interface EmbeddingProvider extends AsyncDisposable {
  readonly model: EmbeddingModel
  /** One vector of length one for each text; of zeros for a question that says nothing to the model. Throws `unavailable`, and nothing else unless the signal is aborted. */
  embed(texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]>
}

/** It is these texts that cannot be embedded: others can, and the same ones will fail again. */
export class TextRefused extends AppError {
  constructor(message: string, cause?: unknown) {
    super('unavailable', message, { cause })
    this.name = 'TextRefused'
  }
}
