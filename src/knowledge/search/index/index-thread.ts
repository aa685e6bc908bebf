import { Worker } from 'node:worker_threads'
import type { TriedNote } from './deadly-notes.ts'

export interface IndexThreadOptions {
  databaseFile: string
  indexFile: string
  /** Notes that must not be read, each up to this change. */
  skip: ReadonlyMap<number, number>
  /** One note at a time, each named before it is read: the thread before this one died. */
  isCareful: boolean
}

export type ToIndexThread = 'index' | 'settle' | 'join' | 'stop'

export type FromIndexThread =
  | { type: 'progress'; done: number; isWhole: boolean }
  /** It looked for more and found little or none. */
  | { type: 'idle' }
  /** Changes up to this number survive a crash of the machine. */
  | { type: 'settled'; done: number }
  /** Searches have as few parts to look into as they can have. */
  | { type: 'joined' }
  | ({ type: 'trying' } & TriedNote)
  | { type: 'skipped'; noteId: number; reason: string }
  | { type: 'damaged'; reason: string }

// In a bundle this module is part of the program, and the thread's own bundle lies beside it.
const FILE = import.meta.url.endsWith('.ts') ? './index-worker.ts' : './search-worker.mjs'
// The largest note takes a part of this; what the thread leaves to be collected counts, too.
const HEAP_MB = 512
// With less, a fifth of the time went into collecting: what a note leaves behind was copied before the note was done.
const YOUNG_HEAP_MB = 12

export function startIndexThread(workerData: IndexThreadOptions): Worker {
  return new Worker(new URL(FILE, import.meta.url), {
    name: 'search index',
    workerData,
    // What the process was started with is for the process: a module that is loaded first, a debugger.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
  })
}
