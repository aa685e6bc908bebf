import type { Target } from '../destination/address/target.ts'
import type { CompletionBody } from '../destination/send/completion-body.ts'
import type { NexusCallback } from '../wire/messages.ts'

/** What an attempt sends and where to, read once. */
export interface Sendable {
  target: Target
  callback: NexusCallback
  completion: CompletionBody
}
