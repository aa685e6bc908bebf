/** The program of the thread that reads notes into chunks, and embeds texts with the model inside the product. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { letOthersFirst } from '../../../platform/supervisor/let-others-first.ts'
import { BuiltinModel } from '../builtin/builtin-model.ts'
import { type NotePlan, planNote } from '../sync/plan-note.ts'
import { encodeVector } from '../vector-bytes.ts'
import type { FromEmbedThread, ToEmbedThread } from './messages.ts'

// After so many texts somebody who waits for the vector of a question gets a turn.
const TEXTS_AT_ONCE = 64

const port = parentPort as MessagePort
let loaded: BuiltinModel | undefined

letOthersFirst()

port.on('message', (message: ToEmbedThread) => {
  const { id } = message
  const answered = message.type === 'texts' ? embedTexts(message) : planNotes(message)
  answered.catch((error: unknown) => post({ id, type: 'failed', message: String(error) }))
})

function model(): BuiltinModel {
  loaded ??= BuiltinModel.load()
  return loaded
}

async function embedTexts({ id, texts, kind }: Extract<ToEmbedThread, { type: 'texts' }>): Promise<void> {
  const { dimensions } = model()
  const vectors = new Float32Array(texts.length * dimensions)
  for (const [at, vector] of model().embed(texts, kind).entries()) vectors.set(vector, at * dimensions)
  post({ id, type: 'texts', vectors }, vectors.buffer)
}

async function planNotes({ id, notes, hasVectors }: Extract<ToEmbedThread, { type: 'notes' }>): Promise<void> {
  const plans: NotePlan[] = []
  const parts: Uint8Array[] = []
  let texts = 0
  for (const work of notes) {
    const plan = planNote(work)
    plans.push(plan)
    if (!hasVectors) continue
    for (let from = 0; from < plan.texts.length; from += TEXTS_AT_ONCE) {
      const slice = plan.texts.slice(from, from + TEXTS_AT_ONCE)
      for (const vector of model().embed(slice)) parts.push(encodeVector(vector))
      texts += slice.length
      if (texts >= TEXTS_AT_ONCE) {
        texts = 0
        await nextTurn()
      }
    }
    plan.texts = []
  }
  if (!hasVectors) return post({ id, type: 'notes', plans, vectors: null })
  const vectors = joined(parts)
  post({ id, type: 'notes', plans, vectors }, vectors.buffer)
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let place = 0
  for (const part of parts) {
    whole.set(part, place)
    place += part.length
  }
  return whole
}

function post(message: FromEmbedThread, ...transferred: ArrayBuffer[]): void {
  port.postMessage(message, transferred)
}
