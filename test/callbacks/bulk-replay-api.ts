import { betweenQuestions } from '../support/between-questions.ts'
import type { CallbacksApi, Wish } from './callbacks-api.ts'

export interface Progress {
  matched: number
  started: number
  failed: number
  done: boolean
}

export function startBulk(callbacks: CallbacksApi, body: Wish, status = 200) {
  return callbacks.api.post(`${callbacks.base}/callback-replays`, status, { body })
}

export async function progressOf(callbacks: Pick<CallbacksApi, 'api' | 'base'>, jobId: string): Promise<Progress> {
  return (await callbacks.api.get(`${callbacks.base}/callback-replays/${jobId}`, 200)).body
}

/** Whoever asks from outside can only ask again. */
export async function untilDone(callbacks: Pick<CallbacksApi, 'api' | 'base'>, jobId: string): Promise<Progress> {
  for (;;) {
    const progress = await progressOf(callbacks, jobId)
    if (progress.done) return progress
    await betweenQuestions()
  }
}

/** Starts so many at a time, and waits until each is closed. */
export async function closedRuns(callbacks: CallbacksApi, ids: readonly string[], more: Wish = {}): Promise<void> {
  const left = [...ids]
  const one = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      await callbacks.startRun(id, more)
      await callbacks.poll(id)
    }
  }
  await Promise.all(Array.from({ length: 16 }, one))
}

/** How many runs each callback has. */
export async function runsById(callbacks: Pick<CallbacksApi, 'api' | 'base'>): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  let nextPageToken = ''
  do {
    const query = new URLSearchParams({ nextPageToken })
    const { body } = await callbacks.api.get(`${callbacks.base}/callbacks?${query}`, 200)
    for (const { callbackId } of body.executions ?? []) counts.set(callbackId, (counts.get(callbackId) ?? 0) + 1)
    nextPageToken = body.nextPageToken ?? ''
  } while (nextPageToken !== '')
  return counts
}
