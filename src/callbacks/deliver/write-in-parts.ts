import { isStorageAway } from '../../platform/storage/storage-errors.ts'
import type { Settlement } from '../run/run.ts'

/**
 * `lost`: the run was changed by somebody else meanwhile, and this says nothing any more. `refused`: the database does not take
 * this one, though it is there; nothing is stored.
 */
export type Settled = 'stored' | 'lost' | 'refused'

export interface Writing {
  /** Writes some together. Answers the numbers of the runs that were as they had been read. */
  write(part: readonly Settlement[]): Promise<ReadonlySet<number>>
  /** Told of each of them; `error` says why one is refused. */
  onSettled(settlement: Settlement, settled: Settled, error?: unknown): void
}

/**
 * Writes all of them together; when the database refuses something among them, in ever smaller parts, so that one that is refused
 * holds up no other one. Rejects only when storage is away.
 */
export async function writeInParts(settlements: readonly Settlement[], writing: Writing): Promise<void> {
  const [first] = settlements
  if (first === undefined) return
  let won: ReadonlySet<number>
  try {
    won = await writing.write(settlements)
  } catch (error) {
    if (isStorageAway(error)) throw error
    if (settlements.length === 1) return writing.onSettled(first, 'refused', error)
    const middle = Math.ceil(settlements.length / 2)
    await writeInParts(settlements.slice(0, middle), writing)
    return writeInParts(settlements.slice(middle), writing)
  }
  for (const one of settlements) writing.onSettled(one, won.has(one.run.runNumber) ? 'stored' : 'lost')
}
