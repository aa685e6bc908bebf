import { Worker } from 'node:worker_threads'
import type { NearChunk } from './near-chunk.ts'
import type { VectorPlace } from './store-vector-connection.ts'
import type { VectorQuestion } from './vector-question.ts'

export interface VectorThreadOptions {
  place: VectorPlace
  maxBytes: number
}

export type ToVectorThread =
  /** Not 0 in `givenUp`: nobody waits for the answer any longer. */
  { type: 'nearest'; id: number; question: VectorQuestion; givenUp: Int32Array } | { type: 'stop' }

export type FromVectorThread =
  | { type: 'found'; id: number; chunks: NearChunk[] }
  | { type: 'failed'; id: number; reason: Error }
  | { type: 'given up'; id: number }
  /** It can do without, for now. */
  | { type: 'trouble'; reason: Error }

// In a bundle this module is part of the program, and the thread's own bundle lies beside it.
const FILE = import.meta.url.endsWith('.ts') ? './vector-worker.ts' : './vector-worker.mjs'
// Vectors are not in it; pages of rows are.
const HEAP_MB = 256
const YOUNG_HEAP_MB = 16

export function startVectorThread(workerData: VectorThreadOptions): Worker {
  return new Worker(new URL(FILE, import.meta.url), {
    name: 'vector search',
    workerData,
    // What the process was started with is for the process: a module that is loaded first, a debugger.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
  })
}
