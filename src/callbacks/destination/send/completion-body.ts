import type { CallbackExecutionCompletion } from '../../wire/messages.ts'
import { nexusFailureBytes, nexusFailureText } from './nexus-failure.ts'
import { type Content, payloadContent } from './payload-content.ts'

export type OperationState = 'succeeded' | 'failed' | 'canceled'

export interface CompletionBody extends Content {
  state: OperationState
}

export function completionBody({ result }: CallbackExecutionCompletion): CompletionBody {
  if (result.case === 'success') return { state: 'succeeded', ...payloadContent(result.value) }
  if (result.case === undefined) throw new Error('A completion without a result was stored.')
  return {
    state: result.value.failureInfo.case === 'canceledFailureInfo' ? 'canceled' : 'failed',
    headers: new Map([['content-type', 'application/json']]),
    body: Buffer.from(nexusFailureText(result.value)),
  }
}

/** How large the body is at most, before it is made of a completion that has so many bytes in binary form. */
export function bodyBytes({ result }: CallbackExecutionCompletion, completionBytes: number): number {
  return result.case === 'failure' ? nexusFailureBytes(result.value) : completionBytes
}
