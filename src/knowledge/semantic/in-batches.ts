export interface BatchLimits {
  texts: number
  /** Of all texts of a batch; a longer one is a batch alone. */
  characters: number
  /** How many batches are underway together. */
  atOnce: number
}

/** Vectors of any number of texts, in their order. The first failure is thrown when nothing is underway any more. */
export async function inBatches(
  texts: readonly string[],
  limits: BatchLimits,
  embed: (texts: readonly string[]) => Promise<Float32Array[]>,
): Promise<Float32Array[]> {
  const batches = batchesOf(texts, limits)
  const results: Float32Array[][] = []
  let next = 0
  let hasFailed = false
  const work = async () => {
    while (next < batches.length && !hasFailed) {
      const at = next++
      try {
        results[at] = await embed(batches[at] as string[])
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const lanes = Array.from({ length: Math.min(limits.atOnce, batches.length) }, work)
  for (const lane of await Promise.allSettled(lanes)) if (lane.status === 'rejected') throw lane.reason
  return results.flat()
}

function batchesOf(texts: readonly string[], limits: BatchLimits): string[][] {
  const batches: string[][] = []
  let batch: string[] = []
  let left = limits.characters
  for (const text of texts) {
    if (batch.length === limits.texts || (batch.length > 0 && text.length > left)) {
      batches.push(batch)
      batch = []
      left = limits.characters
    }
    batch.push(text)
    left -= text.length
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}
