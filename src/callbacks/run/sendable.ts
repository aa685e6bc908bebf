import type { CompletionBody } from '../destination/completion-body.ts'
import type { Target } from '../destination/target.ts'
import type { NexusCallback } from '../wire/messages.ts'

/** What an attempt sends and where to, read once. */
export interface Sendable {
  target: Target
  callback: NexusCallback
  completion: CompletionBody
}
