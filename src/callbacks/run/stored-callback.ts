import { fromBinary } from '@bufbuild/protobuf'
import { CallbackExecutionCompletionSchema } from '../../gen/temporal/api/callback/v1/message_pb.js'
import { type Callback, CallbackSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import { type CompletionBody, completionBody } from '../destination/completion-body.ts'
import { readTarget, type Target } from '../destination/target.ts'
import type { NexusCallback } from '../wire/messages.ts'
import type { RunInput } from './run.ts'

/** What an attempt sends and where to, read once. */
export interface Sendable {
  target: Target
  callback: NexusCallback
  completion: CompletionBody
}

/** A callback as it lies in the database: token and headers are secrets, so all of it is encrypted. */
export function sealCallback(cipher: Cipher, bytes: Uint8Array, runId: string): Uint8Array {
  return cipher.seal(bytes, binding(runId))
}

export function openCallback(cipher: Cipher, sealed: Uint8Array, runId: string): Callback {
  const bytes = cipher.open(sealed, binding(runId))
  if (bytes === undefined) {
    throw new Error(`The callback of run ${runId} cannot be decrypted: it was encrypted with another key`)
  }
  return fromBinary(CallbackSchema, bytes)
}

export function openSendable(cipher: Cipher, input: RunInput, runId: string): Sendable {
  const { variant } = openCallback(cipher, input.callback, runId)
  if (variant.case !== 'nexus') throw new Error(`The callback of run ${runId} has no address`)
  const target = targetOf(variant.value.url)
  if (target === undefined) throw new Error(`The address of run ${runId} cannot be read`)
  const completion = completionBody(fromBinary(CallbackExecutionCompletionSchema, input.completion))
  return { target, callback: variant.value, completion }
}

// Many callbacks go to one address.
const MOST_TARGETS = 1_000
const targets = new Map<string, Target>()

function targetOf(url: string): Target | undefined {
  const known = targets.get(url)
  if (known !== undefined) return known
  const { target } = readTarget(url)
  if (target === undefined) return undefined
  if (targets.size >= MOST_TARGETS) targets.clear()
  targets.set(url, target)
  return target
}

function binding(runId: string): string {
  return `callback_inputs ${runId}`
}
