/** The program of the thread that writes SQLite's index of words. It alone does; the server reads. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { isSqliteDamage } from '../../../platform/storage/storage-errors.ts'
import { letOthersFirst } from '../../../platform/supervisor/let-others-first.ts'
import type { FromIndexThread, IndexThreadOptions, ToIndexThread } from './index-thread.ts'
import { NoteIndexer } from './store-note-indexer.ts'

const BATCH = { notes: 400, size: 1_000_000 }
const CAREFUL_BATCH = { notes: 1, size: 1 }
const CAREFUL_NOTES = 1_000

const port = parentPort as MessagePort
const { isCareful, ...options } = workerData as IndexThreadOptions

letOthersFirst()

let carefulNotes = isCareful ? CAREFUL_NOTES : 0
let isRunning = false
let isStopping = false

const indexer = new NoteIndexer({
  ...options,
  ...(isCareful && { onTry: (tried) => carefulNotes > 0 && post({ type: 'trying', ...tried }) }),
  onSkipped: (noteId, reason) => post({ type: 'skipped', noteId, reason }),
})

port.on('message', (message: ToIndexThread) => {
  if (message === 'index') void guard(indexAll)
  else if (message === 'settle') void guard(settle)
  else if (message === 'join') void guard(join)
  else void guard(stop)
})

async function indexAll(): Promise<void> {
  if (isRunning) return
  isRunning = true
  for (let isMore = true; isMore && !isStopping; ) {
    const wasWhole = indexer.isWhole
    const limit = carefulNotes > 0 ? CAREFUL_BATCH : BATCH
    const { count, isCut } = indexer.indexSome(limit)
    carefulNotes = Math.max(0, carefulNotes - count)
    if (count > 0 || indexer.isWhole !== wasWhole)
      post({ type: 'progress', done: indexer.done, isWhole: indexer.isWhole })
    // What came meanwhile is not worth a commit of its own: more of it comes until the server asks again, which it does at once where
    // somebody waits.
    isMore = isCut || count >= limit.notes || !indexer.isWhole || !wasWhole
    await nextTurn()
  }
  isRunning = false
  post({ type: 'idle' })
  if (isStopping) stop()
}

function settle(): void {
  indexer.settle()
  post({ type: 'settled', done: indexer.done })
}

/** Until something is to be indexed, which is more urgent. */
async function join(): Promise<void> {
  while (!isRunning && !isStopping && indexer.joinSome()) await nextTurn()
  if (!isRunning && !isStopping) post({ type: 'joined' })
}

function stop(): void {
  isStopping = true
  if (isRunning) return
  settle()
  indexer.close()
  port.close()
}

/** What is thrown out of here ends the thread. */
async function guard(work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isSqliteDamage(error)) post({ type: 'damaged', reason: String(error) })
    throw error
  }
}

function post(message: FromIndexThread): void {
  port.postMessage(message)
}
