/** The program of the thread that runs the model of a folder: a batch keeps its thread busy for seconds. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { ignoreFailure } from '../../../platform/errors/ignore-failure.ts'
import { letOthersFirst } from '../../../platform/supervisor/let-others-first.ts'
import { openFolderModel, TextsFailed } from './folder-model.ts'
import type { FolderWork, FromFolderThread } from './folder-thread.ts'

// After so many texts somebody who waits for the vector of a question gets a turn.
const TEXTS_AT_ONCE = 4

const port = parentPort as MessagePort
// The threads that the package starts, too.
letOthersFirst()

const model = openFolderModel(workerData as string)
ignoreFailure(model, 'told to whoever asks')
const questions: FolderWork[] = []
const documents: (FolderWork & { parts: Float32Array[] })[] = []
let isWorking = false

port.on('message', (work: FolderWork) => {
  if (work.kind === 'query') questions.push(work)
  else documents.push({ ...work, parts: [] })
  if (!isWorking) void workOff()
})

async function workOff(): Promise<void> {
  isWorking = true
  for (;;) {
    const question = questions.shift()
    const document = documents[0]
    if (question !== undefined) await answer(question, () => embed(question.texts, 'query'))
    else if (document !== undefined) await goOnWith(document)
    else break
    // What came meanwhile is heard between two steps.
    await new Promise(setImmediate)
  }
  isWorking = false
}

async function goOnWith(work: (typeof documents)[number]): Promise<void> {
  const from = work.parts.length * TEXTS_AT_ONCE
  const isLast = from + TEXTS_AT_ONCE >= work.texts.length
  const isOver = await answer(work, async () => {
    work.parts.push(await embed(work.texts.slice(from, from + TEXTS_AT_ONCE), 'document'))
    return isLast ? joined(work.parts) : null
  })
  if (isOver) documents.shift()
}

/** Whether there was an answer. */
async function answer({ id }: FolderWork, embedded: () => Promise<Float32Array<ArrayBuffer> | null>): Promise<boolean> {
  try {
    const vectors = await embedded()
    if (vectors === null) return false
    port.postMessage({ id, vectors } satisfies FromFolderThread, [vectors.buffer])
  } catch (error) {
    const { message: problem } = error as Error
    port.postMessage({ id, problem, isOfTexts: error instanceof TextsFailed } satisfies FromFolderThread)
  }
  return true
}

async function embed(texts: readonly string[], kind: FolderWork['kind']): Promise<Float32Array<ArrayBuffer>> {
  return (await model).embed(texts, kind)
}

function joined(parts: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(parts.reduce((length, part) => length + part.length, 0))
  let place = 0
  for (const part of parts) {
    whole.set(part, place)
    place += part.length
  }
  return whole
}
