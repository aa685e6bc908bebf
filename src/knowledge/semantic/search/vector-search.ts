import type { NearChunk } from './near-chunk.ts'
import type { VectorQuestion } from './vector-question.ts'

/** What is near in meaning. Every row of `note_vectors` that was committed before the question is seen by it. */
export interface VectorSearch extends AsyncDisposable {
  /**
   * The `k` chunks most similar to the vector, best first. `unavailable` when the stored vectors cannot be read; the reason of the
   * signal as soon as it aborts.
   */
  nearest(question: VectorQuestion, signal?: AbortSignal): Promise<NearChunk[]>
}
