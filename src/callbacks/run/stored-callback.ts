import { fromBinary } from '@bufbuild/protobuf'
import {
  type CallbackExecutionCompletion,
  CallbackExecutionCompletionSchema,
} from '../../gen/temporal/api/callback/v1/message_pb.js'
import { type Callback, CallbackSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import { readTarget } from '../destination/address/target.ts'
import { bodyBytes, completionBody } from '../destination/send/completion-body.ts'
import type { RunInput } from './run.ts'
import type { Sendable } from './sendable.ts'

/** A callback as it lies in the database: token and headers are secrets, so all of it is encrypted. */
export function sealCallback(cipher: Cipher, bytes: Uint8Array, runId: string): Uint8Array {
  return cipher.seal(bytes, binding(runId))
}

/** What is stored of a run cannot be read, now or later. The message is for whoever started it. */
export class StoredCallbackUnreadable extends AppError {
  constructor(message: string, cause?: unknown) {
    super('failed_precondition', message, { cause })
  }
}

export function openCallback(cipher: Cipher, sealed: Uint8Array, runId: string): Callback | StoredCallbackUnreadable {
  const bytes = cipher.open(sealed, binding(runId))
  if (bytes === undefined) {
    return new StoredCallbackUnreadable(
      `The callback of run ${runId} cannot be decrypted: it was changed, or encrypted with another key`,
    )
  }
  return parsed(runId, () => fromBinary(CallbackSchema, bytes))
}

/** What is stored of a run, read but for the body that is sent, which may be large. */
export interface OpenedInput extends Omit<Sendable, 'completion'> {
  completion: CallbackExecutionCompletion
  /** How large the body will be at most. */
  bodyBytes: number
}

export function openInput(cipher: Cipher, input: RunInput, runId: string): OpenedInput | StoredCallbackUnreadable {
  const callback = openCallback(cipher, input.callback, runId)
  if (callback instanceof StoredCallbackUnreadable) return callback
  if (callback.variant.case !== 'nexus')
    return new StoredCallbackUnreadable(`The callback of run ${runId} has no address`)
  const { value } = callback.variant
  const { target } = readTarget(value.url)
  if (target === undefined) return new StoredCallbackUnreadable(`The address of run ${runId} cannot be read`)
  return parsed(runId, () => {
    const completion = fromBinary(CallbackExecutionCompletionSchema, input.completion)
    return { target, callback: value, completion, bodyBytes: bodyBytes(completion, input.completion.length) }
  })
}

export function toSendable(
  { target, callback, completion }: OpenedInput,
  runId: string,
): Sendable | StoredCallbackUnreadable {
  return parsed(runId, () => ({ target, callback, completion: completionBody(completion) }))
}

function parsed<T>(runId: string, parse: () => T): T | StoredCallbackUnreadable {
  try {
    return parse()
  } catch (cause) {
    return new StoredCallbackUnreadable(`What is stored of run ${runId} cannot be parsed`, cause)
  }
}

function binding(runId: string): string {
  return `callback_inputs ${runId}`
}
