import { setTimeout } from 'node:timers/promises'

const PAUSE_MS = 20

/**
 * Between two questions whether something has happened in another process that nobody tells of: asked without a pause, they take the
 * processor from what is waited for.
 */
export function betweenQuestions(): Promise<void> {
  return setTimeout(PAUSE_MS)
}
