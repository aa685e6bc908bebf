import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { compareTexts } from '../../platform/text/compare-texts.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import type { RunInput } from '../run/run.ts'
import type { ValidStart } from '../wire/validate-start.ts'
import { replayStart } from './replay-run.ts'
import { findReplaySources, type ReplayId, type ReplaySource } from './store-replays.ts'

// What one transaction starts at most: others wait behind it, and all of it is in memory.
const BYTES = 8 * 1024 * 1024
const READ_AT_ONCE = 5

/** Runs that are replayed in one transaction. */
export interface ReplayBatch {
  /**
   * In the order of their callbacks: two replays that meet wait for each other in one direction. Of several runs of one
   * callback the last one comes first, and the others wait for its end: a callback runs once at a time.
   */
  readonly ready: readonly { source: ReplaySource; start: ValidStart }[]
  readonly failed: number
  /** Why the first of those failed. */
  readonly problem: unknown
  /** How many of the numbers were looked at: fewer where the runs are large. */
  readonly looked: number
}

export const NO_BATCH: ReplayBatch = { ready: [], failed: 0, problem: null, looked: 0 }

export interface ReplayBatchDeps {
  readonly reader: Reader
  readonly cipher: Cipher
  readonly namespace: ActiveNamespace
  readonly replayId: ReplayId
  readonly signal: AbortSignal
}

/** Everything that can be done before the transaction, which others wait for. Runs that are gone are passed over. */
export async function prepareReplayBatch(
  { reader, cipher, namespace, replayId, signal }: ReplayBatchDeps,
  runNumbers: readonly number[],
): Promise<ReplayBatch> {
  const ready: { source: ReplaySource; start: ValidStart }[] = []
  let [failed, bytes, problem, looked]: [number, number, unknown, number] = [0, 0, null, 0]
  while (looked < runNumbers.length && bytes <= BYTES) {
    signal.throwIfAborted()
    const some = runNumbers.slice(looked, looked + READ_AT_ONCE)
    const sources = await findReplaySources(reader, some)
    for (const runNumber of some) {
      const source = sources.get(runNumber)
      if (source === undefined) continue
      const { callbackId, runId } = source.run
      bytes += inputBytes(source.input)
      try {
        const names = { callbackId, requestId: `${replayId}:${runId}` }
        ready.push({ source, start: replayStart(cipher, namespace, source, names) })
      } catch (error) {
        failed++
        problem ??= error
      }
    }
    looked += some.length
  }
  ready.sort((a, b) => compareTexts(a.start.callbackId, b.start.callbackId))
  return { ready, failed, problem, looked }
}

function inputBytes({ completion, callback, searchAttributes }: RunInput): number {
  return completion.length + callback.length + (searchAttributes?.length ?? 0)
}
