import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf'
import {
  CallbackExecutionAlreadyStartedFailureSchema,
  NamespaceNotFoundFailureSchema,
} from '../../gen/temporal/api/errordetails/v1/message_pb.js'
import { AppError } from '../../platform/errors/app-error.ts'
import { shortened } from '../../platform/text/shortened.ts'
import { ERROR_DETAIL_PREFIX } from '../destination/literals.ts'
import { writeMessage } from './json.ts'

/** A detail that RPC sends as the message it is, and HTTP as JSON with its type. */
interface WireDetail<Desc extends DescMessage> {
  desc: Desc
  value: MessageInitShape<Desc>
  toJSON(): object
}

export function alreadyStarted(callbackId: string, running: { requestId: string; runId: string }): AppError {
  const { requestId: startRequestId, runId } = running
  return new AppError('conflict', `callback execution ${shown(callbackId)} is already running as run ${runId}`, {
    details: [wireDetail(CallbackExecutionAlreadyStartedFailureSchema, { startRequestId, runId })],
  })
}

export function namespaceNotFound(namespace: string): AppError {
  return new AppError('not_found', `namespace ${shown(namespace)} not found`, {
    details: [wireDetail(NamespaceNotFoundFailureSchema, { namespace })],
  })
}

/** No such callback, or no such run of it. */
export function runNotFound(callbackId: string, runId: string | null): AppError {
  const which = runId === null ? '' : ` has no run ${runId}, or`
  return new AppError('not_found', `callback execution ${shown(callbackId)}${which} was not found`)
}

function wireDetail<Desc extends DescMessage>(desc: Desc, value: MessageInitShape<Desc>): WireDetail<Desc> {
  return {
    desc,
    value,
    toJSON: () => ({ '@type': ERROR_DETAIL_PREFIX + desc.name, ...writeMessage(desc, create(desc, value)) }),
  }
}

const LONGEST_SHOWN = 100

function shown(id: string): string {
  return JSON.stringify(shortened(id, LONGEST_SHOWN))
}
