import type { Database } from '../../../platform/storage/database.ts'
import type { Embeddings } from '../embeddings.ts'
import { completedModels } from '../store-models.ts'
import { type EmbeddingCounts, embeddingCounts, type FailedNote, lastProblem, someFailedNotes } from './store-status.ts'

export interface EmbeddingStatus extends EmbeddingCounts {
  /** `unavailable`: the provider cannot be asked. `indexing`: some notes have no or old vectors. */
  status: 'disabled' | 'unavailable' | 'indexing' | 'ready'
  provider: string | null
  model: string | null
  dimensions: number | null
  failures: FailedNote[]
  /** Why the provider cannot be asked. */
  problem: string | null
  reindexReason: string | null
  isReindexRecommended: boolean
}

const SHOWN_FAILURES = 10
const NOTHING: EmbeddingCounts = { notes: 0, chunks: 0, embeddings: 0, pending: 0, failed: 0 }

export const DISABLED: EmbeddingStatus = {
  ...NOTHING,
  status: 'disabled',
  provider: null,
  model: null,
  dimensions: null,
  failures: [],
  problem: null,
  reindexReason: null,
  isReindexRecommended: false,
}

export async function embeddingStatus(
  { db, embeddings }: { db: Database; embeddings: Embeddings },
  projectId: number,
): Promise<EmbeddingStatus> {
  const { modelId, provider, name, dimensions, isOpen } = await embeddings.known(projectId)
  const key = { projectId, modelId }
  return db.read(async (snapshot) => {
    const counts = await embeddingCounts(snapshot, key)
    const problem = (isOpen ? null : embeddings.problem) ?? (await lastProblem(snapshot, key))
    const completed = await completedModels(snapshot, projectId)
    const isChanging = isOpen && completed.length > 0 && !completed.some(({ id }) => id === modelId)
    const isUnavailable = !isOpen || problem !== null
    return {
      ...counts,
      status: isUnavailable ? 'unavailable' : counts.pending > 0 || isChanging ? 'indexing' : 'ready',
      provider,
      model: name,
      dimensions,
      failures: await someFailedNotes(snapshot, key, SHOWN_FAILURES),
      problem,
      ...advice(counts, isChanging),
    } as const
  })
}

function advice({ failed }: EmbeddingCounts, isChanging: boolean) {
  if (failed > 0) {
    const reason = `${failed} ${failed === 1 ? 'note' : 'notes'} could not be embedded and will not be tried again by itself`
    return { isReindexRecommended: true, reindexReason: reason }
  }
  const reason = 'The embedding model changed: the vectors before answer until all notes have new ones'
  return { isReindexRecommended: false, reindexReason: isChanging ? reason : null }
}
